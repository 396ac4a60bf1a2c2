from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger.commitment import Commitment, check, commit

SALT = bytes(range(32))


def test_the_formula_is_the_documented_one():
    commitment = Commitment("params", SALT)
    commitment.update(b"amount=2000")
    message = b"ghost-commit-v1\x00params\x00amount=2000"
    assert commitment.hex() == hmac.new(SALT, message, hashlib.sha256).hexdigest()


@given(st.binary(max_size=50), st.data())
def test_pieces_commit_to_the_same_as_the_whole(data: bytes, draw):
    cut = draw.draw(st.integers(0, len(data)))
    commitment = Commitment("response", SALT)
    commitment.update(data[:cut])
    commitment.update(data[cut:])
    assert check("response", SALT, data, commitment.hex())


def test_a_commitment_opens_with_its_salt_and_bytes_only():
    salt, digest = commit("params", b"amount=2000")
    assert check("params", salt, b"amount=2000", digest)
    assert not check("params", salt, b"amount=2001", digest)
    assert not check("response", salt, b"amount=2000", digest)
    assert not check("params", SALT, b"amount=2000", digest)
    assert not check("params", salt, b"amount=2000", "é")


def test_two_equal_payloads_have_unequal_commitments():
    assert commit("params", b"same")[1] != commit("params", b"same")[1]


def test_every_four_digit_amount_is_guessed_wrong_without_the_salt():
    _, digest = commit("amount", b"4711")
    guesses = (b"%04d" % number for number in range(10_000))
    assert not any(check("amount", bytes(32), guess, digest) for guess in guesses)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_salt_of_another_length_is_refused(size: int):
    with pytest.raises(IntegrityError) as caught:
        Commitment("params", bytes(size))
    assert caught.value.code == "ledger.commitment"
