"""The checker: any value that the entries do not say is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_ledger.projections import Difference
from support.ledger import (
    CLOSED,
    denied,
    differences,
    edit,
    open_recorder,
    rows,
    script,
    spawned,
    url_of,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder, scopes=("GET,POST https://a.example/*", "stripe"))
        owned.act()
        recorder.append(denied(owned.sid))
        recorder.seal(owned.sid, CLOSED)
    return tmp_path


def _found(folder: Path) -> list[Difference]:
    engine = db.engine(url_of(folder))
    try:
        return differences(engine)
    finally:
        engine.dispose()


def test_an_untouched_ledger_has_none(folder: Path):
    assert _found(folder) == []


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("sessions", "scope", "'*'"),
        ("sessions", "scopes", "'[]'"),
        ("sessions", "status", "'live'"),
        ("sessions", "root_signature", "NULL"),
        ("sessions", "spawned_at", "'2020-01-01T00:00:00.000000Z'"),
        ("sessions", "intent", "'harmless'"),
        ("actions", "status", "'executed'"),
        ("actions", "http_status", "299"),
        ("actions", "host", "'good.example'"),
        ("actions", "count", "7"),
        ("credentials_log", "reason", "'rotate'"),
        ("credentials_log", "key_hash", "NULL"),
    ],
)
def test_an_edited_column_is_named(folder: Path, table: str, column: str, value: str):
    script(folder, f"UPDATE {table} SET {column} = {value}")
    found = _found(folder)
    assert {(each.table, each.column) for each in found} == {(table, column)}


@pytest.mark.parametrize("table", ["actions", "credentials_log"])
def test_a_deleted_row_is_missed(folder: Path, table: str):
    script(folder, f"DELETE FROM {table}")
    assert {(each.table, each.found) for each in _found(folder)} == {(table, "no row")}


def test_an_invented_row_is_found(folder: Path):
    script(
        folder,
        "INSERT INTO actions (action_id, session_id, tool, action, timestamp, signature, status,"
        " method, host, entry_hash, entry_idx, count) SELECT 'act_x', session_id, 't', 'a',"
        " timestamp, signature, status, method, host, entry_hash, entry_idx, 1 FROM actions LIMIT 1",
    )
    assert [(each.key, each.found) for each in _found(folder)] == [("act_x", "a row")]


def test_an_erased_intent_is_no_difference(folder: Path):
    assert rows(folder, "SELECT count(*) FROM payloads WHERE field = 'intent'") == [2]
    edit(folder, "DELETE FROM payloads")
    script(folder, "UPDATE sessions SET intent = NULL")
    assert _found(folder) == []
