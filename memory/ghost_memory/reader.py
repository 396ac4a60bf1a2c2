"""What is shown unasked, read over any connection: passive ranking, tasks, decisions, learned context.

`opened` is the hook path: plain sqlite3, read only, no ORM, and no database is ever made. The server reads
the same through its own connection (`passive.over`). No dataclasses: making one costs a start
half a millisecond.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import quote

from ghost_core.errors import UnavailableError
from ghost_core.look import exists
from ghost_memory import ranking, whereabouts
from ghost_memory.dialect import SQLITE, Dialect
from ghost_memory.values import GLOBAL, Decision, Memory, Project, Task, listed
from ghost_memory.whereabouts import Ask

__all__ = ["Counted", "Reader", "Rows", "opened"]

BUSY_SECONDS: Final = 1.0
OVERFETCH: Final = 3
MEMORY: Final = (
    "m.id, m.project_id, m.category, m.content, m.importance, m.tags, m.pinned, m.source, m.created_at,"
    " m.updated_at, m.seq, m.access_count, m.resolved_at, m.valid_until, m.agent, m.session_id"
)
_OPEN: Final = "m.project_id = :project AND m.resolved_at IS NULL"
_HOLDS: Final = (
    "(m.valid_until IS NULL OR m.valid_until > :now) AND m.id NOT IN (SELECT l.target_id"
    " FROM memory_links l JOIN memories n ON n.id = l.source_id WHERE l.relation = 'supersedes'"
    f" AND l.invalidated_at IS NULL AND n.project_id IN (:project, '{GLOBAL}'))"
)
_TASK: Final = (
    "id, project_id, title, description, status, priority, notes, created_at, updated_at,"
    " completed_at"
)
_DECISION: Final = (
    "id, project_id, title, decision, rationale, alternatives, status, superseded_by, tags, memory_id,"
    " created_at, updated_at"
)


class Counted[T](NamedTuple):
    """Some rows, and how many there are in all."""

    rows: tuple[T, ...]
    total: int


class Reader(Protocol):
    """What the assembler asks for; every list is ordered, best first."""

    def memories(self, project: str, *, limit: int, now: str) -> Counted[Memory]:
        """Return what a project remembers, by importance and age, and how much is unresolved in all."""
        ...

    def shared(self, *, limit: int, now: str) -> Counted[Memory]:
        """Return what all projects share: pinned first, then by importance."""
        ...

    def twins(self, memories: Sequence[Memory], *, at_least: float) -> list[ranking.Edge]:
        """Return the pairs among these that say nearly the same."""
        ...

    def tasks(self, project: str, *, limit: int) -> Counted[Task]:
        """Return what is open: urgent first, then newest."""
        ...

    def decisions(self, project: str, *, limit: int) -> Counted[Decision]:
        """Return what was decided last and holds."""
        ...

    def learned(self, project: str) -> str:
        """Return the summary of the last consolidation."""
        ...


class Rows:
    """Reads over any connection."""

    def __init__(self, ask: Ask, dialect: Dialect = SQLITE) -> None:
        self.ask = ask
        self._dialect = dialect

    def project_of(self, directory: Path) -> Project | None:
        """Return the project of a directory; see `whereabouts.of_directory`."""
        return whereabouts.of_directory(self.ask, directory)

    def memories(self, project: str, *, limit: int, now: str) -> Counted[Memory]:
        """See Reader. What was replaced counts, and is not among the rows."""
        rows = self.ask(_best(self._dialect), {"project": project, "now": now, "limit": limit})
        return Counted(tuple(map(_memory, rows)), self._open(project))

    def shared(self, *, limit: int, now: str) -> Counted[Memory]:
        """See Reader."""
        rows = self.ask(
            f"SELECT {MEMORY} FROM memories m WHERE {_OPEN} AND {_HOLDS}"
            " ORDER BY m.pinned DESC, m.importance DESC, m.updated_at DESC, m.seq DESC LIMIT :limit",
            {"project": GLOBAL, "now": now, "limit": limit},
        )
        return Counted(tuple(map(_memory, rows)), self._open(GLOBAL))

    def twins(self, memories: Sequence[Memory], *, at_least: float) -> list[ranking.Edge]:
        """See Reader: live `related` links of this strength."""
        named = {f"id{number}": each.id for number, each in enumerate(memories)}
        ids = ", ".join(f":{name}" for name in named)
        rows = self.ask(
            "SELECT source_id, target_id FROM memory_links WHERE relation = 'related'"
            f" AND invalidated_at IS NULL AND strength >= :least AND source_id IN ({ids})"
            f" AND target_id IN ({ids}) ORDER BY source_id, target_id",
            {**named, "least": at_least},
        )
        return [(str(row["source_id"]), str(row["target_id"])) for row in rows]

    def tasks(self, project: str, *, limit: int) -> Counted[Task]:
        """See Reader."""
        where = "project_id = :project AND status <> 'done'"
        rows = self.ask(
            f"SELECT {_TASK} FROM tasks WHERE {where} ORDER BY priority, seq DESC LIMIT :limit",
            {"project": project, "limit": limit},
        )
        return Counted(
            tuple(Task(**row) for row in rows), self._count(f"tasks WHERE {where}", project)
        )

    def decisions(self, project: str, *, limit: int) -> Counted[Decision]:
        """See Reader."""
        where = "project_id = :project AND status = 'active'"
        rows = self.ask(
            f"SELECT {_DECISION} FROM decisions WHERE {where} ORDER BY seq DESC LIMIT :limit",
            {"project": project, "limit": limit},
        )
        found = tuple(map(_decision, rows))
        return Counted(found, self._count(f"decisions WHERE {where}", project))

    def learned(self, project: str) -> str:
        """See Reader."""
        rows = self.ask(
            "SELECT learned_context FROM ghost_state WHERE project_id = :project",
            {"project": project},
        )
        return str(rows[0]["learned_context"]) if rows else ""

    def _open(self, project: str) -> int:
        return self._count(f"memories m WHERE {_OPEN}", project)

    def _count(self, of: str, project: str) -> int:
        return int(self.ask(f"SELECT count(*) AS n FROM {of}", {"project": project})[0]["n"])


def _best(dialect: Dialect) -> str:
    """Return the passive ranking: the inner query is answered by an index alone, the outer reads few rows."""
    return (
        f"SELECT {MEMORY} FROM (SELECT m.seq AS place, m.importance * ({ranking.decay_sql(dialect)}) AS worth"
        f" FROM memories m WHERE {_OPEN} AND {_HOLDS} ORDER BY worth DESC, place DESC LIMIT :limit) best"
        " JOIN memories m ON m.seq = best.place ORDER BY best.worth DESC, best.place DESC"
    )


@contextmanager
def opened(database: Path) -> Iterator[Rows | None]:
    """Yield a reader of a database file; None where there is no file or no memory in it.

    Raises UnavailableError `database.unreadable` for a file that is locked, damaged or no database.
    """
    if not exists(database):
        yield None
        return
    address = f"file:{quote(str(database.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("BEGIN")  # everything is read of one state
            yield Rows(_asking(connection)) if _has_memory(connection) else None
    except sqlite3.Error as error:
        raise UnavailableError(
            f"database {str(database)!r}: cannot be read, {error}", code="database.unreadable"
        ) from error


def _asking(connection: sqlite3.Connection) -> Ask:
    def ask(statement: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
        return [dict(row) for row in connection.execute(statement, dict(values))]

    return ask


def _has_memory(connection: sqlite3.Connection) -> bool:
    found = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('memories', 'tasks')"
    )
    return int(found.fetchone()[0]) == 2


def _memory(row: Mapping[str, Any]) -> Memory:
    return Memory(**{**row, "tags": listed(row["tags"]), "pinned": bool(row["pinned"])})


def _decision(row: Mapping[str, Any]) -> Decision:
    lists = {name: listed(row[name]) for name in ("alternatives", "tags")}
    return Decision(**{**row, **lists})
