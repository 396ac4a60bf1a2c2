from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.secret import SecretBytes


@given(st.binary(min_size=1))
def test_only_reveal_gives_the_bytes(value: bytes) -> None:
    secret = SecretBytes(value)
    assert secret.reveal() == value
    assert f"{secret} {secret!r} {[secret]}" == "SecretBytes(…) SecretBytes(…) [SecretBytes(…)]"


@given(st.binary())
def test_a_wiped_secret_is_zeros_of_the_same_length(value: bytes) -> None:
    secret = SecretBytes(value)
    secret.wipe()
    assert secret.reveal() == bytes(len(value))
    assert len(secret) == len(value)


def test_secrets_are_equal_by_value_and_to_nothing_else() -> None:
    assert SecretBytes(b"a") == SecretBytes(b"a")
    assert SecretBytes(b"a") != SecretBytes(b"b")
    assert SecretBytes(b"a") != b"a"


def test_an_empty_secret_is_false() -> None:
    assert not SecretBytes(b"")
    assert SecretBytes(b"\0")


@pytest.mark.parametrize("spread", [pickle.dumps, copy.copy, copy.deepcopy, hash])
def test_a_secret_is_neither_pickled_nor_copied_nor_hashed(spread: object) -> None:
    assert callable(spread)
    with pytest.raises(TypeError):
        spread(SecretBytes(b"x"))
