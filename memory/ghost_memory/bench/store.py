"""A memory of its own for each data set: the product's tables, fixed ids, fixed times, gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_memory import words
from ghost_memory.bench.fixtures import Record
from ghost_memory.limits import cut
from ghost_memory.values import stored

__all__ = ["NOW", "filled"]

NOW: Final = "2026-09-01T12:00:00.000000Z"
_START: Final = datetime.fromisoformat(NOW)

_MEMORY: Final = sa.text(
    "INSERT INTO memories (id, project_id, category, content, importance, source, tags, pinned, created_at,"
    " updated_at, resolved_at, pairs, digest) VALUES (:id, :project, :category, :content, :importance,"
    " 'import', :tags, :pinned, :at, :at, :resolved, :pairs, :digest)"
)
_PROJECT: Final = sa.text(
    "INSERT INTO projects (id, path, name, created_at, updated_at) VALUES (:id, :id, :id, :now, :now)"
    " ON CONFLICT (id) DO NOTHING"
)
_EDGE: Final = sa.text(
    "INSERT INTO memory_links (source_id, target_id, relation, strength, source, created_at)"
    " VALUES (:new, :old, 'supersedes', 1.0, 'manual', :now)"
)


@contextmanager
def filled(records: Sequence[Record]) -> Iterator[Connection]:
    """Yield a connection to a temporary memory that holds the records, ids as their keys."""
    with tempfile.TemporaryDirectory(prefix="ghost-bench-") as folder:
        engine = db.engine(f"sqlite:///{Path(folder) / 'bench.db'}", trusted=True)
        try:
            db.migrate(engine)
            with db.write(engine) as connection:
                _fill(connection, records)
            with db.read(engine) as connection:
                yield connection
        finally:
            engine.dispose()


def _fill(connection: Connection, records: Sequence[Record]) -> None:
    projects = sorted({each.project for each in records})
    connection.execute(_PROJECT, [{"id": each, "now": NOW} for each in projects])
    connection.execute(_MEMORY, [_row(each) for each in records])
    edges = [
        {"new": each.key, "old": old, "now": NOW} for each in records for old in each.supersedes
    ]
    if edges:
        connection.execute(_EDGE, edges)


def _row(record: Record) -> dict[str, object]:
    at = (_START - timedelta(days=record.age_days)).astimezone(UTC)
    tags = stored(record.tags)
    content = cut(record.content, 8000).text
    return {
        "id": record.key,
        "project": record.project,
        "category": record.category,
        "content": content,
        "importance": record.importance,
        "tags": tags,
        "pinned": record.pinned,
        "at": f"{at:%Y-%m-%dT%H:%M:%S.%f}Z",
        "resolved": NOW if record.resolved else None,
        "pairs": words.pairs(f"{content} {tags}"),
        "digest": words.digest(content),
    }
