"""Sees every change of memory, whichever process makes it, and tells which resources it made stale.

A held connection tells by `data_version` that somebody has committed; what was changed then stands in the
entries since the last look, each of which names a thing, its project and the kind of change.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_memory import projects
from ghost_memory.server import uris
from ghost_memory.server.catalogue.resources import KINDS
from ghost_memory.server.uris import Touched

__all__ = ["Watch"]

_LAST: Final = "SELECT coalesce(max(idx), -1) FROM entries"
_BEFORE: Final = "SELECT idx FROM entries WHERE ts < :since ORDER BY idx DESC LIMIT 1"
_NEWER: Final = (
    "SELECT action, coalesce(project_id, ''), details FROM audit_log WHERE id > :last ORDER BY id"
)
_OWNER: Final = " UNION ALL ".join(
    f"SELECT project_id FROM {table} WHERE id = :id" for table in ("memories", "decisions", "tasks")
)
_SHOWN_IN: Final[Mapping[str, tuple[str, ...]]] = {
    "task": ("context", "tasks"),
    "decision": ("context", "decisions"),
    "project": KINDS,
}


class _Change(NamedTuple):
    """One entry: the kind of thing, which one it is, and its project."""

    kind: str
    subject: str
    project: str


class Watch:
    """What was changed since a time, then since the last look; safe to share between threads."""

    def __init__(self, engine: Callable[[], Engine], since_us: int) -> None:
        self._engine = engine
        self._since = since_us
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._version: object = None
        self._last: int | None = None
        self._names: dict[str, str] = {}

    def stale(self) -> list[str]:
        """Return the addresses of all that was changed since, each spelling once."""
        done = False
        try:
            with self._lock, db.mapped(self._engine()):
                found = self._look(self._held())
            done = True
        finally:
            if not done:  # a connection that failed once may never work again
                self.close()
        return found

    def _look(self, connection: Connection) -> list[str]:
        version = db.data_version(connection)
        if version == self._version:
            return []
        with connection.begin():
            changes = list(self._changes(connection))
            found = uris.touched(connection, dict.fromkeys(self._touched(changes)))
            self._see(connection)
        self._version = version
        return found

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            connection, self._connection = self._connection, None
            self._version = None
            if connection is not None:
                connection.close()

    def _held(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine().connect()
        return self._connection

    def _seen(self, connection: Connection) -> int:
        """Return up to which entry everything is told."""
        if self._last is None:
            found = connection.execute(sa.text(_BEFORE), {"since": self._since}).scalar()
            self._last = -1 if found is None else int(found)
        return self._last

    def _see(self, connection: Connection) -> None:
        self._last = int(connection.execute(sa.text(_LAST)).scalar_one())
        self._names = {each.id: each.name for each in projects.every(connection)}

    def _changes(self, connection: Connection) -> Iterator[_Change]:
        newer = connection.execute(sa.text(_NEWER), {"last": self._seen(connection)})
        for action, project, details in newer:
            subject = str(json.loads(details)["memory"])
            kind = str(action).partition(".")[0]
            yield _Change(kind, subject, str(project) or _owner(connection, subject))

    def _touched(self, changes: Iterable[_Change]) -> Iterator[Touched]:
        """Return what each change shows in; a project may be gone by now, under the name it had."""
        for kind, subject, project in changes:
            what = _SHOWN_IN.get(kind, ("context",))
            if kind == "project" and subject != project:
                yield Touched(subject, what, self._names.get(subject, ""))
            yield Touched(project, what, self._names.get(project, ""))


def _owner(connection: Connection, subject: str) -> str:
    """Return the project of something whose change names none, such as an edge between memories."""
    found = connection.execute(sa.text(_OWNER), {"id": subject}).scalar()
    return "" if found is None else str(found)
