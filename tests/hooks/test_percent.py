"""Escapes are undone in pieces as they are undone at once, with less in memory."""

from __future__ import annotations

import tracemalloc
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_hooks.percent import PIECE, pieces, unquoted

ODD = st.text("%4a1u", max_size=12).map(str.encode)


@given(st.integers(-8, 8), ODD)
def test_no_escape_is_cut_by_the_end_of_a_piece(shift: int, odd: bytes) -> None:
    text = b"x" * (PIECE + shift) + odd + b"%41"
    assert unquoted(text) == unquote_to_bytes(text)


@given(st.integers(-8, 2))
def test_a_wide_escape_stays_whole(shift: int) -> None:
    text = "x" * (PIECE + shift) + "%u0041" + "y" * PIECE
    found = list(pieces(text, "%", 6))
    assert "".join(found) == text
    assert any("%u0041" in each for each in found)


@pytest.mark.parametrize("text", [b"", b"%", b"%4", b"%zz", b"100%"])
def test_what_is_no_escape_stays(text: bytes) -> None:
    assert unquoted(text) == text


def test_many_escapes_fill_no_memory() -> None:
    text = b"%zz" * 100_000
    tracemalloc.start()
    try:
        assert unquoted(text) == text
        assert tracemalloc.get_traced_memory()[1] < 5 * len(text)
    finally:
        tracemalloc.stop()
