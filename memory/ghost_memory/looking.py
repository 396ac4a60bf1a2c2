"""Memory seen without the means to change it, and a change that is made and taken back without a trace."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_core.clock import Clock
from ghost_core.paths import Home
from ghost_ledger.store import time_text
from ghost_memory.journal import Who, Writing

__all__ = ["Place", "Seen"]


class _Undone(Exception):  # noqa: N818  # no error: how a preview is taken back
    """Takes back what was done to see what it would do."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One state of memory, the time at which it is seen, and the database for what is derived from it."""

    connection: Connection
    now: str
    engine: Engine


@dataclass(frozen=True, slots=True)
class Place:
    """Where memory is; where there is none yet an empty one is seen, and none is made."""

    home: Home
    url: str
    clock: Clock

    @contextmanager
    def seen(self) -> Iterator[Seen]:
        """Open one state of memory."""
        with self._engine() as engine, db.read(engine) as connection:
            yield Seen(connection, self._now(), engine)

    def preview[T](self, who: Who, work: Callable[[Writing], T]) -> T:
        """Return what a change would return; the change is made and taken back. Raises what `work` raises."""
        kept: list[T] = []
        with self._engine() as engine, suppress(_Undone), db.write(engine) as connection:
            kept.append(work(Writing(connection, self._now(), who, [])))
            raise _Undone
        return kept[0]

    def _now(self) -> str:
        return time_text(self.clock.now_us())

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        if self._exists():
            with _opened(self.home, self.url) as engine:
                yield engine
            return
        with (
            tempfile.TemporaryDirectory() as folder,
            _opened(self.home, f"sqlite:///{folder}/ghost.db") as engine,
        ):
            yield engine

    def _exists(self) -> bool:
        engine = db.engine(self.url, home=self.home)
        try:
            return db.exists(engine)
        finally:
            engine.dispose()


@contextmanager
def _opened(home: Home, url: str) -> Iterator[Engine]:
    engine = db.engine(url, home=home)
    try:
        db.migrate(engine)
        yield engine
    finally:
        engine.dispose()
