"""The payload box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger import sealing

KEY = bytes(range(32))


@given(st.binary(max_size=300))
def test_what_was_sealed_opens_again(data: bytes):
    assert sealing.unseal(KEY, sealing.seal(KEY, data)) == data


def test_equal_data_seals_to_unequal_boxes():
    assert sealing.seal(KEY, b"amount=5000") != sealing.seal(KEY, b"amount=5000")


@given(st.integers(0, 50), st.integers(1, 255))
def test_any_changed_byte_is_refused(position: int, difference: int):
    box = bytearray(sealing.seal(KEY, b"amount=5000"))
    box[position] ^= difference
    with pytest.raises(IntegrityError) as caught:
        sealing.unseal(KEY, bytes(box))
    assert caught.value.code == "ledger.sealed"


@pytest.mark.parametrize("box", [b"", b"x" * 23, b"x" * 39])
def test_a_box_that_is_too_short_is_refused(box: bytes):
    with pytest.raises(IntegrityError):
        sealing.unseal(KEY, box)


def test_another_key_does_not_open():
    with pytest.raises(IntegrityError):
        sealing.unseal(sealing.new_key().reveal(), sealing.seal(KEY, b"a"))
