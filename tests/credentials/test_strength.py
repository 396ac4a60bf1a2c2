"""What is called weak, and what never is."""

from __future__ import annotations

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_credentials.strength import LEAST_BYTES, is_weak


@pytest.mark.parametrize(
    "secret",
    [
        b"",
        b"hunter2",
        b"S3cure-and-15ch",
        b"a" * 40,
        b"ab" * 20,
        b"abcdefghijklmnopqrstuvwxyz",
        b"0123456789012345678901234567",
        b"password12345678",
        b"hunter2-hunter2-hunter2",
        b"4929174402871653",
        b"deadbeefdeadbeef",
        b"\0" * 64,
    ],
)
def test_what_can_be_guessed_is_weak(secret: bytes) -> None:
    assert is_weak(secret)


@pytest.mark.parametrize(
    "made",
    [
        lambda: secrets.token_urlsafe(16),
        lambda: secrets.token_hex(16),
        lambda: "sk_live_" + secrets.token_hex(12),
        lambda: "ghp_" + secrets.token_urlsafe(27),
    ],
)
def test_what_a_service_makes_is_not(made) -> None:
    assert not any(is_weak(made().encode()) for _ in range(200))


def test_raw_bytes_of_a_key_are_not() -> None:
    assert not any(is_weak(secrets.token_bytes(32)) for _ in range(200))


@given(st.binary(max_size=LEAST_BYTES - 1))
def test_whatever_is_short_is_weak(secret: bytes) -> None:
    assert is_weak(secret)


@given(st.binary(min_size=1, max_size=4), st.integers(1, 50))
def test_a_repetition_adds_nothing(piece: bytes, times: int) -> None:
    assert is_weak(piece * times)
