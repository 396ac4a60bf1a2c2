from __future__ import annotations

from ghost_ledger.export import values


def test_digests_and_signatures_have_prefixes() -> None:
    assert values.sha256(b"\xab" * 32) == "sha256_" + "ab" * 32
    assert values.sha256("ab" * 32) == "sha256_" + "ab" * 32
    assert values.signature(b"\x01" * 64) == "ed25519_sig_" + "01" * 64


def test_what_is_not_there_stays_nothing() -> None:
    assert (values.sha256(None), values.signature(None), values.instant(None)) == (None, None, None)


def test_instants_are_whole_seconds_in_utc() -> None:
    assert values.instant(1_781_278_320_999_999) == "2026-06-12T15:32:00Z"


def test_a_fingerprint_can_be_read_aloud() -> None:
    assert values.fingerprint(bytes(range(32))) == "SHA256:00010203 04050607 08090a0b 0c0d0e0f"
