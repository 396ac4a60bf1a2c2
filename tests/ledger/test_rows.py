"""Driver statements for many rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_ledger import rows
from ghost_ledger.derivation import Change, Kind
from support.ledger import url_of

ACTION = {
    "session_id": "s", "tool": "t", "action": "a", "timestamp": "now", "signature": "",
    "status": "pending", "method": "POST", "host": "h", "entry_hash": "", "entry_idx": 0, "count": 1,
}  # fmt: skip


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    engine = db.engine(url_of(tmp_path))
    db.migrate(engine)
    with engine.connect() as opened:
        opened.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        yield opened
    engine.dispose()


def _status(connection: Connection, action: str) -> object:
    query = "SELECT status FROM actions WHERE action_id = ?"
    return connection.exec_driver_sql(query, (action,)).scalar()


def test_no_rows_are_no_statement(connection: Connection):
    rows.insert_many(connection, "no_such_table", ("a",), [])


@pytest.mark.parametrize("count", [1, 3])
def test_rows_are_inserted_in_column_order(connection: Connection, count: int):
    keys = [(str(number), b"k") for number in range(count)]
    rows.insert_many(connection, "payload_keys", ("sid", "sealed"), keys)
    found = connection.exec_driver_sql("SELECT sid, sealed FROM payload_keys").all()
    assert [tuple(row) for row in found] == keys


def test_an_upsert_meets_a_new_and_an_old_row(connection: Connection):
    denied = {**ACTION, "status": "denied"}
    rows.apply(connection, [Change("actions", "old", Kind.INSERT, dict(ACTION))])
    rows.apply(
        connection, [Change("actions", key, Kind.UPSERT, dict(denied)) for key in ("old", "new")]
    )
    assert [_status(connection, key) for key in ("old", "new")] == ["denied", "denied"]


def test_an_update_touches_its_row_only(connection: Connection):
    rows.apply(
        connection, [Change("actions", key, Kind.INSERT, dict(ACTION)) for key in ("one", "two")]
    )
    rows.apply(connection, [Change("actions", "one", Kind.UPDATE, {"status": "unknown"})])
    assert [_status(connection, key) for key in ("one", "two")] == ["unknown", "pending"]
