"""Payload rows and the keys that open them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_core.secret import SecretBytes
from ghost_ledger import payloads, sealing
from ghost_ledger.payloads import DataKeys
from support.ledger import intent, url_of

VAULT = SecretBytes(b"v" * 32)
SID = "gh_" + "0" * 32


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    engine = db.engine(url_of(tmp_path))
    db.migrate(engine)
    with db.write(engine) as opened:
        yield opened


def test_a_session_has_one_key_for_every_holder_of_the_vault_key(connection: Connection):
    created = DataKeys(VAULT).obtain(connection, SID)
    assert DataKeys(VAULT).obtain(connection, SID) == created


def test_two_sessions_have_two_keys(connection: Connection):
    keys = DataKeys(VAULT)
    assert keys.obtain(connection, SID) != keys.obtain(connection, SID[:-1] + "1")


def test_the_stored_key_is_sealed(connection: Connection):
    key = DataKeys(VAULT).obtain(connection, SID)
    stored = connection.exec_driver_sql("SELECT sealed FROM payload_keys").scalar_one()
    assert key not in stored


def test_looking_for_a_key_creates_none(connection: Connection):
    assert DataKeys(VAULT).find(connection, SID) is None


def test_a_forgotten_key_is_read_again(connection: Connection):
    keys = DataKeys(VAULT)
    key = keys.obtain(connection, SID)
    keys.forget()
    assert keys.obtain(connection, SID) == key


def test_a_row_holds_the_data_sealed():
    (payload,) = intent(SID, data=b"canary").payloads
    row = payloads.sealed_row(3, payload, b"k" * 32)
    box = row[4]
    assert box is not None
    assert b"canary" not in box
    assert sealing.unseal(b"k" * 32, box) == b"canary"


def test_a_payload_without_data_keeps_its_salt_only():
    (payload,) = intent(SID).payloads
    row = payloads.sealed_row(3, replace(payload, data=None), b"k" * 32)
    assert (row[2], row[4]) == (payload.salt, None)


@pytest.mark.parametrize("change", [{"field": "forwarded2"}, {"commitment": "0" * 64}])
def test_a_payload_that_the_entry_does_not_commit_to_is_refused(change: dict[str, str]):
    draft = intent(SID)
    wrong = replace(draft, payloads=(replace(draft.payloads[0], **change),))
    with pytest.raises(IntegrityError) as caught:
        payloads.check(wrong)
    assert caught.value.code == "ledger.payload"
