"""Attempts to make payloads go without a word, and to make a word of erasure without right."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError
from ghost_core.migrations.payload_guards import SQLITE_PAYLOAD_GUARDS
from ghost_core.paths import Home
from ghost_ledger.erasing import Wanted
from ghost_ledger.export.replay import session_view
from ghost_ledger.reader import Ledger
from support.ledger import edit, open_recorder, raw, rows, script, sealed, spawned

STATEMENTS = (
    "DELETE FROM payloads",
    "DELETE FROM payloads WHERE field = 'response'",
    "DELETE FROM payload_keys",
    "UPDATE payloads SET data = NULL",
    "UPDATE payloads SET salt = zeroblob(32)",
    "UPDATE payloads SET entry_idx = entry_idx + 100",
    "UPDATE payload_keys SET sealed = zeroblob(72)",
    "UPDATE OR REPLACE payload_keys SET sid = 'x'",
    "INSERT OR REPLACE INTO payload_keys SELECT sid, zeroblob(72) FROM payload_keys",
    "INSERT OR REPLACE INTO payloads SELECT entry_idx, field, salt, commitment, NULL, size,"
    " truncated, media FROM payloads",
    "INSERT INTO payloads SELECT * FROM payloads WHERE true"
    " ON CONFLICT (entry_idx, field) DO UPDATE SET data = NULL",
)


def _stored(folder: Path) -> list[object]:
    return [
        rows(folder, "SELECT * FROM payloads ORDER BY entry_idx, field"),
        rows(folder, "SELECT * FROM payload_keys ORDER BY sid"),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ledger with one session that lost its request on purpose, and one that lost nothing."""
    with open_recorder(tmp_path) as recorder:
        sid = sealed(recorder)
        sealed(recorder)
        recorder.erase(Wanted(sid, "request", "alice", field="params"))
    return tmp_path


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_payloads_and_keys_are_neither_changed_nor_deleted_without_an_entry(
    folder: Path, statement: str, recursive: str
) -> None:
    before = _stored(folder)
    with raw(folder) as connection, pytest.raises(sqlite3.IntegrityError, match="ledger: "):
        connection.execute(f"PRAGMA recursive_triggers={recursive}")
        connection.execute(statement)
    assert _stored(folder) == before


def test_an_entry_of_another_session_or_field_frees_nothing(folder: Path) -> None:
    """The same field elsewhere, and another field of the same entry, are named by an entry."""
    before = _stored(folder)
    for field in ("params", "response", "intent"):
        with pytest.raises(sqlite3.IntegrityError, match="no entry says"):
            script(folder, f"DELETE FROM payloads WHERE field = '{field}'")
    assert _stored(folder) == before


def test_a_basis_that_looks_like_an_entry_frees_nothing(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        one, other = sealed(recorder), sealed(recorder)
        (leaf,) = rows(
            tmp_path,
            "SELECT lower(hex(leaf_hash)) FROM entries WHERE sid = ? AND type = 'session.spawn'",
            other,
        )
        basis = f'","entry":"{leaf}","fields":["intent"],"x":"'
        recorder.erase(Wanted(one, basis, "alice", field="response"))
        before = _stored(tmp_path)
        with pytest.raises(sqlite3.IntegrityError, match="no entry says"):
            script(tmp_path, "DELETE FROM payloads WHERE field = 'intent'")
        assert _stored(tmp_path) == before


@pytest.mark.parametrize("name", SQLITE_PAYLOAD_GUARDS)
def test_a_guard_that_is_missing_is_found_at_the_next_open(folder: Path, name: str) -> None:
    script(folder, f"DROP TRIGGER {name}")
    with pytest.raises(IntegrityError, match=name) as caught:
        open_recorder(folder)
    assert (caught.value.code, caught.value.exit_code) == ("ledger.triggers", 7)


def test_what_was_deleted_past_the_guards_is_missing_and_not_erased(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sid, home = sealed(recorder), Home(tmp_path)
        edit(tmp_path, "DELETE FROM payloads WHERE field = 'params'")
        view = session_view(Ledger(recorder.engine, home), home, sid, parts="full")
    assert view["actions"][0]["request"]["state"] == "absent"
    assert view["actions"][0]["erased"] == []


def test_a_payload_that_was_put_back_must_be_the_committed_one(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned, home = spawned(recorder), Home(tmp_path)
        owned.act()
        (kept,) = rows(tmp_path, "SELECT * FROM payloads WHERE field = 'params'")
        recorder.erase(Wanted(owned.sid, "request", "alice", field="params"))
        forged = (*kept[:4], bytes(60), *kept[5:])
        with raw(tmp_path) as connection:
            connection.execute("INSERT INTO payloads VALUES (?,?,?,?,?,?,?,?)", forged)
        view = session_view(Ledger(recorder.engine, home), home, owned.sid, parts="full")
    assert view["verdict"]["axes"]["disclosure"]["state"] == "invalid"
