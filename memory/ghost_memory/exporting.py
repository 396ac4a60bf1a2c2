"""Memory as JSON Lines: the same memory gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory.exchange import KINDS, SCHEMA, Kind
from ghost_memory.values import listed

__all__ = ["exported"]

_LISTS: Final = frozenset({"tags", "alternatives"})
_ENDS: Final = "(SELECT id FROM memories WHERE project_id = :project)"
_OF: Final = {
    "projects": "id = :project",
    "memory_links": f"source_id IN {_ENDS} AND target_id IN {_ENDS}",
}


def exported(connection: Connection, project: str | None = None) -> Iterator[str]:
    """Yield the lines of everything, or of one project by its id, without line ends: first the header."""
    counts = {kind.name: _count(connection, kind, project) for kind in KINDS}
    yield _line({"schema": SCHEMA, "records": counts})
    for kind in KINDS:
        columns = ", ".join(kind.columns)
        rows = connection.execute(
            sa.text(f"SELECT {columns} FROM {_from(kind, project)} ORDER BY {kind.order}"),
            {"project": project},
        )
        for row in rows.mappings():
            yield _line({"type": kind.name, **{name: _value(name, row[name]) for name in row}})


def _count(connection: Connection, kind: Kind, project: str | None) -> int:
    statement = sa.text(f"SELECT count(*) FROM {_from(kind, project)}")
    return int(connection.execute(statement, {"project": project}).scalar_one())


def _from(kind: Kind, project: str | None) -> str:
    if project is None:
        return kind.table
    return f"{kind.table} WHERE {_OF.get(kind.table, 'project_id = :project')}"


def _value(name: str, value: object) -> object:
    if name in _LISTS:
        return list(listed(str(value)))
    return bool(value) if name == "pinned" else value


def _line(document: Mapping[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
