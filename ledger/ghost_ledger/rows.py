"""Writing rows without the ORM: one driver statement for many rows (the hot path of the recorder)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, assert_never

from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_ledger.derivation import KEYS, Change, Kind

__all__ = ["apply", "insert_many", "update_head"]

_TABLES: Final = tuple(KEYS)  # sessions first: the others refer to it
_KINDS: Final = tuple(Kind)

type _Group = tuple[str, Kind, tuple[str, ...]]


def insert_many(
    connection: Connection, table: str, columns: tuple[str, ...], rows: Sequence[tuple[object, ...]]
) -> None:
    """Insert rows that are tuples in the order of the columns."""
    if rows:
        db.run(connection, _insert(table, columns, _mark(connection)), rows)


def apply(connection: Connection, changes: Iterable[Change]) -> None:
    """Carry out folded changes of the derived tables, grouped by statement."""
    groups: dict[_Group, list[tuple[object, ...]]] = {}
    for change in changes:
        values = change.values
        group = (change.table, change.kind, tuple(values))
        groups.setdefault(group, []).append((*values.values(), change.key))
    for group in sorted(groups, key=_rank):
        db.run(connection, _statement(group, _mark(connection)), groups[group])


def update_head(connection: Connection, *, origin: str, values: dict[str, object]) -> None:
    """Set columns of the one row of the log."""
    statement = _update("log_head", "origin", tuple(values), _mark(connection))
    db.run(connection, statement, [(*values.values(), origin)])


def _rank(group: _Group) -> tuple[int, int]:
    return _TABLES.index(group[0]), _KINDS.index(group[1])


@lru_cache(maxsize=256)
def _statement(group: _Group, mark: str) -> str:
    table, kind, columns = group
    key = KEYS[table]
    match kind:
        case Kind.INSERT:
            return _insert(table, (*columns, key), mark)
        case Kind.UPSERT:
            sets = ", ".join(f"{name} = excluded.{name}" for name in columns)
            insert = _insert(table, (*columns, key), mark)
            return f"{insert} ON CONFLICT ({key}) DO UPDATE SET {sets}"
        case Kind.UPDATE:
            return _update(table, key, columns, mark)
        case _:
            assert_never(kind)


@lru_cache(maxsize=256)
def _insert(table: str, columns: tuple[str, ...], mark: str) -> str:
    names, marks = ", ".join(columns), ", ".join([mark] * len(columns))
    return f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608  # our own names


@lru_cache(maxsize=256)
def _update(table: str, key: str, columns: tuple[str, ...], mark: str) -> str:
    sets = ", ".join(f"{name} = {mark}" for name in columns)
    return f"UPDATE {table} SET {sets} WHERE {key} = {mark}"  # noqa: S608  # our own names


def _mark(connection: Connection) -> str:
    return "?" if connection.dialect.paramstyle == "qmark" else "%s"
