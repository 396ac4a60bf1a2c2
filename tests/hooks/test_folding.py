"""Names are folded character by character: no text takes longer than its length asks for."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_hooks.folding import folded
from ghost_hooks.percent import PIECE

ACCENTS = "\u0301" * 20_000 + "\u0316" * 20_000  # which normalizing sorts, two by two
SECONDS = 1.0  # the sorting takes some ten


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("Amount", "amount"),
        ("\uff21m\u00f3unt", "amount"),
        ("a m-o_u.n[t]", "amount"),
        ("\ufb01eld", "field"),
        ("stra\u00dfe", "strasse"),
        (" _Method", "_method"),
        ("[x", "_x"),
        ("_", ""),
        ("", ""),
    ],
)
def test_what_does_not_count_is_left_out(name: str, same: str) -> None:
    assert folded(name) == same


def test_accents_in_an_odd_order_take_no_time() -> None:
    began = time.monotonic()
    assert folded(f"a{ACCENTS}b") == "ab"
    assert time.monotonic() - began < SECONDS


@given(st.text())
def test_a_name_is_folded_as_its_normal_form(name: str) -> None:
    assert folded(unicodedata.normalize("NFC", name)) == folded(unicodedata.normalize("NFD", name))


def test_a_long_name_is_folded_over_the_ends_of_pieces() -> None:
    assert folded("A_" * PIECE) == "a" * PIECE
