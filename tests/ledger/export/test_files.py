from __future__ import annotations

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.bundle import Bundle, Disclosure
from ghost_ledger.export.files import plain_files
from support.bundles import Log

SALT = b"\x00" * 32


def test_an_open_session_has_no_seal_file() -> None:
    files = plain_files(Log().session().action().bundle())
    assert "seal.note" not in files
    assert "spawn.tlog-proof" in files


def test_an_entry_that_cannot_be_read_is_named_by_its_place() -> None:
    assert list(plain_files(Bundle((b"nonsense",)))) == ["000000.note"]


def test_a_disclosure_is_payload_and_salt() -> None:
    files = plain_files(Bundle((b"x",), disclosures=(Disclosure(1, "params", SALT, b"body"),)))
    assert (files["000001-params.payload"], files["000001-params.salt"]) == (b"body", SALT)


def test_a_time_stamp_is_a_file_beside_the_head_that_it_is_over() -> None:
    made = Log().session().finish().bundle(timestamps=(b"first", b"second"))
    files = plain_files(made)
    assert (files["timestamp-0.tst"], files["timestamp-1.tst"]) == (b"first", b"second")
    assert files["checkpoint"] == made.head


@pytest.mark.parametrize("name", ["../a", "a/b", "", ".", "..", "a\x00", "A", "a" * 40])
def test_a_field_that_is_no_plain_word_is_refused(name: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        plain_files(Bundle((b"x",), disclosures=(Disclosure(0, name, SALT, b""),)))
    assert caught.value.code == "bundle.name"
