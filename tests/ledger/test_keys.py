from __future__ import annotations

import pickle

import pytest
from nacl.bindings import crypto_core_ed25519_add

from ghost_core.errors import IntegrityError
from ghost_ledger import keys
from ghost_ledger.keys import SecretKey

# RFC 8032 §7.1, tests 1, 2, 3 and SHA(abc): seed, public key, message, signature.
RFC_8032 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
        "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]

ORDER_EIGHT = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
LOW_ORDER = [
    "01" + "00" * 31,  # the identity
    "ec" + "ff" * 30 + "7f",  # order 2
    "00" * 32,  # order 4
    "00" * 31 + "80",
    ORDER_EIGHT,
    ORDER_EIGHT[:-2] + "85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]
NOT_CANONICAL = [
    "01" + "00" * 30 + "80",
    "ee" + "ff" * 30 + "7f",
    "ee" + "ff" * 31,
    "ed" + "ff" * 30 + "7f",
    "ed" + "ff" * 31,
    "ec" + "ff" * 31,
    "f0" + "ff" * 30 + "7f",  # y = p + 3
]
ORDER = 2**252 + 27742317777372353535851937790883648493


@pytest.mark.parametrize(("seed", "public", "message", "signature"), RFC_8032)
def test_the_vectors_of_rfc_8032_are_reproduced(
    seed: str, public: str, message: str, signature: str
):
    key = SecretKey.from_seed(bytes.fromhex(seed))
    assert key.public.hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature
    keys.verify(key.public, bytes.fromhex(message), bytes.fromhex(signature))


def test_a_generated_key_survives_through_its_seed():
    key = SecretKey.generate()
    again = SecretKey.from_seed(key.seed().reveal())
    assert again.public == key.public
    assert again.sign(b"message") == key.sign(b"message")


def test_two_generated_keys_differ():
    assert SecretKey.generate().public != SecretKey.generate().public


def test_a_wiped_key_reads_back_as_zero_and_signs_nothing_more():
    key = SecretKey.generate()
    assert not key.wiped
    assert key.wipe() is True
    assert key.wiped
    assert key._page.closed
    with pytest.raises(IntegrityError, match="wiped"):
        key.sign(b"message")
    with pytest.raises(IntegrityError, match="wiped"):
        key.seed()


def test_a_key_can_be_wiped_twice_and_still_names_its_public_half():
    key = SecretKey.generate()
    public = key.public
    key.wipe()
    assert key.wipe() is True
    assert key.public == public


def test_a_seed_of_another_length_is_refused():
    with pytest.raises(IntegrityError) as caught:
        SecretKey.from_seed(bytes(31))
    assert caught.value.code == "ledger.key"


def test_a_key_shows_only_its_public_half_and_cannot_be_pickled():
    key = SecretKey.generate()
    assert key.seed().reveal().hex() not in repr(key)
    assert key.public.hex() in repr(key)
    with pytest.raises(TypeError):
        pickle.dumps(key)


@pytest.mark.parametrize("public", LOW_ORDER + NOT_CANONICAL)
def test_a_low_order_or_non_canonical_public_key_is_refused(public: str):
    with pytest.raises(IntegrityError) as caught:
        keys.check_public(bytes.fromhex(public))
    assert caught.value.code == "ledger.key"


def test_a_public_key_of_mixed_order_is_refused():
    mixed = crypto_core_ed25519_add(SecretKey.generate().public, bytes.fromhex(ORDER_EIGHT))
    with pytest.raises(IntegrityError, match="prime-order"):
        keys.check_public(mixed)


def test_an_honest_public_key_passes():
    keys.check_public(SecretKey.generate().public)


@pytest.mark.parametrize("size", [0, 31, 33, 57, 270])
def test_a_public_key_of_another_algorithm_is_refused_by_its_length(size: int):
    with pytest.raises(IntegrityError, match="32 bytes"):
        keys.check_public(bytes(size))


@pytest.mark.parametrize("public", LOW_ORDER)
def test_no_signature_verifies_under_a_low_order_key(public: str):
    # R = identity, S = 0: under such keys this one signature would fit every message.
    universal = bytes.fromhex("01" + "00" * 63)
    with pytest.raises(IntegrityError) as caught:
        keys.verify(bytes.fromhex(public), b"anything", universal)
    assert caught.value.code == "ledger.signature"


def test_a_signature_with_s_plus_the_group_order_is_refused():
    key = SecretKey.from_seed(bytes(32))
    signature = key.sign(b"message")
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    with pytest.raises(IntegrityError):
        keys.verify(key.public, b"message", signature[:32] + scalar.to_bytes(32, "little"))


@pytest.mark.parametrize("change", [lambda s: s[:-1], lambda s: s + b"\x00", lambda _: b""])
def test_a_signature_of_another_length_is_refused(change):
    key = SecretKey.generate()
    with pytest.raises(IntegrityError, match="32\\+64 bytes"):
        keys.verify(key.public, b"message", change(key.sign(b"message")))


def test_a_signature_under_a_key_of_another_length_is_refused():
    key = SecretKey.generate()
    with pytest.raises(IntegrityError, match="31\\+64"):
        keys.verify(key.public[:31], b"message", key.sign(b"message"))


def test_every_flipped_bit_of_a_signature_is_noticed():
    key = SecretKey.from_seed(bytes(32))
    signature = key.sign(b"message")
    for bit in range(512):
        flipped = int.from_bytes(signature, "big") ^ (1 << bit)
        with pytest.raises(IntegrityError):
            keys.verify(key.public, b"message", flipped.to_bytes(64, "big"))
