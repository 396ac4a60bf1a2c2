"""Attempts to change, drop or slip in entries: each is refused, or found at the next open."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import DeniedError, GhostError
from ghost_ledger.store import GUARDED
from support.ledger import CLOSED, open_recorder, raw, rows, script, spawned, url_of

NEXT = "(SELECT max(idx) + 1 FROM entries)"
COPY = (
    "INSERT {verb} INTO entries SELECT {idx}, {sid}, {seq}, {prev}, type, id, ts, body, sig, {leaf}"
    " FROM entries WHERE idx = 3 {tail}"
)
FRESH = {
    "verb": "", "idx": NEXT, "sid": "sid", "seq": "(SELECT max(seq) + 1 FROM entries e WHERE"
    " e.sid = entries.sid)", "prev": "(SELECT leaf_hash FROM entries e WHERE e.sid = entries.sid"
    " ORDER BY seq DESC LIMIT 1)", "leaf": "randomblob(32)", "tail": "",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_recorder(tmp_path) as recorder:
        sealed = spawned(recorder)
        recorder.seal(sealed.sid, CLOSED)
        live = spawned(recorder)
        live.act()
    return tmp_path


def _entries(folder: Path) -> list[object]:
    return rows(folder, "SELECT * FROM entries ORDER BY idx")


def _live(folder: Path) -> int:
    query = "SELECT max(idx) FROM entries WHERE type = 'action.intent'"
    return int(rows(folder, query)[0])


def _copy(folder: Path, **changes: str) -> str:
    return COPY.format(**{**FRESH, **changes}).replace("idx = 3", f"idx = {_live(folder)}")


def test_the_insert_that_the_others_vary_is_one_that_passes(folder: Path):
    before = len(_entries(folder))
    script(folder, _copy(folder))
    assert len(_entries(folder)) == before + 1


@pytest.mark.parametrize(
    "changes",
    [
        {"idx": "idx"},
        {"idx": "NULL"},
        {"idx": f"{NEXT} + 1"},
        {"idx": "-1"},
        {"seq": "seq"},
        {"seq": "seq + 7"},
        {"prev": "prev"},
        {"prev": "randomblob(32)"},
        {"prev": "zeroblob(32)"},
        {"prev": "NULL"},
        {"sid": "(SELECT sid FROM entries WHERE type = 'session.seal' LIMIT 1)", "seq": "5"},
    ],
)
@pytest.mark.parametrize("verb", ["", "OR REPLACE", "OR IGNORE"])
def test_an_insert_on_any_key_but_the_next_is_refused(
    folder: Path, changes: dict[str, str], verb: str
):
    before = _entries(folder)
    with pytest.raises(sqlite3.IntegrityError, match="ledger: "):
        script(folder, _copy(folder, verb=verb, **changes))
    assert _entries(folder) == before


@pytest.mark.parametrize("key", ["idx", "sid, seq"])
def test_an_upsert_changes_nothing(folder: Path, key: str):
    before = _entries(folder)
    kept = {"idx": "idx", "seq": "seq", "prev": "prev", "leaf": "leaf_hash"}
    tail = f"ON CONFLICT ({key}) DO UPDATE SET body = x'00'"
    with pytest.raises(sqlite3.IntegrityError, match="ledger: "):
        script(folder, _copy(folder, tail=tail, **kept))
    assert _entries(folder) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = x'00'",
        "UPDATE OR REPLACE entries SET idx = 0 WHERE idx = 1",
        "UPDATE entries SET idx = idx + 100",
        "DELETE FROM entries",
        "DELETE FROM entries WHERE idx = (SELECT max(idx) FROM entries)",
    ],
)
def test_update_and_delete_are_refused(folder: Path, statement: str):
    before = _entries(folder)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        script(folder, statement)
    assert _entries(folder) == before


def test_replace_is_refused_without_recursive_triggers_too(folder: Path):
    before = _entries(folder)
    with raw(folder) as connection, pytest.raises(sqlite3.IntegrityError, match="ledger: "):
        connection.execute("PRAGMA recursive_triggers=OFF")
        connection.execute(_copy(folder, verb="OR REPLACE", seq="seq", leaf="randomblob(32)"))
    assert _entries(folder) == before


@pytest.mark.parametrize(
    "statement",
    ["DROP TRIGGER entries_insert", "DROP TABLE entries", "ALTER TABLE entries RENAME TO e"],
)
def test_our_own_process_cannot_change_the_shape(folder: Path, statement: str):
    engine = db.engine(url_of(folder), guarded=GUARDED)
    with pytest.raises(DeniedError), db.write(engine) as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
    open_recorder(folder).close()


def test_our_own_process_cannot_write_the_schema(folder: Path):
    engine = db.engine(url_of(folder), guarded=GUARDED)
    with pytest.raises(GhostError), db.write(engine) as connection:
        connection.exec_driver_sql("PRAGMA writable_schema=ON")
        connection.exec_driver_sql("UPDATE sqlite_master SET sql = '' WHERE type = 'trigger'")
    engine.dispose()
    open_recorder(folder).close()


@pytest.mark.parametrize("trigger", ["entries_insert", "entries_update", "entries_delete"])
def test_a_guard_deleted_through_the_writable_schema_is_missed_at_open(folder: Path, trigger: str):
    with raw(folder) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = ?", (trigger,))
    with pytest.raises(GhostError) as caught:
        open_recorder(folder)
    assert caught.value.code == "ledger.triggers"
    assert caught.value.exit_code == 7
