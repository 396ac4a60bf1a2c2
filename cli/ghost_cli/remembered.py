"""What the commands of memory share: memory opened to read or to change, and the project that is meant."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy.engine import Connection, Engine

from ghost_cli import output
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.errors import NotFoundError
from ghost_core.settings import Settings
from ghost_ledger.store import time_text
from ghost_memory import projects
from ghost_memory.checkout import Checkout
from ghost_memory.journal import Journal, Who, Writing

BY = "cli"


class _Undone(Exception):  # noqa: N818  # no error: how a preview is taken back
    """Takes back what was done to see what it would do."""


@contextmanager
def reading() -> Iterator[tuple[Connection, Settings]]:
    """Open memory to look at one state of it."""
    with _database() as (engine, settings), db.read(engine) as connection:
        yield connection, settings


def preview[T](work: Callable[[Writing], T]) -> T:
    """Do a change and take it back, so that a preview says what would happen; nothing is entered."""
    kept: list[T] = []
    with _database() as (engine, _), suppress(_Undone), db.write(engine) as connection:
        kept.append(work(Writing(connection, now(), Who(BY), [])))
        raise _Undone
    return kept[0]


def now() -> str:
    """Return the time as rows hold it."""
    return time_text(SystemClock().now_us())


@contextmanager
def _database() -> Iterator[tuple[Engine, Settings]]:
    """Open memory, or where there is none yet an empty one that goes again: looking makes none."""
    opened = Opened.now()
    url = opened.settings.database.url
    if Path(str(db.engine(url, home=opened.home).url.database)).exists():
        with _engine(opened, url) as engine:
            yield engine, opened.settings
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        _engine(opened, f"sqlite:///{folder}/ghost.db") as engine,
    ):
        yield engine, opened.settings


@contextmanager
def _engine(opened: Opened, url: str) -> Iterator[Engine]:
    engine = db.engine(url, home=opened.home)
    try:
        db.migrate(engine)
        yield engine
    finally:
        engine.dispose()


@contextmanager
def changing() -> Iterator[Journal]:
    """Open memory to change it; every change is an entry of the ledger."""
    clock = SystemClock()
    with Opened.now().recorder(with_memory=True) as recorder:
        yield Journal(recorder, clock, Who(BY))


def here_or_everywhere(connection: Connection, named: str) -> str | None:
    """Return the id of the project to search; None, which is all, in a directory that belongs to none."""
    if named:
        return projects.require(connection, named).id
    found = projects.of_directory(connection, Path.cwd())
    if found is None:
        output.note("the current directory belongs to no project: looking in all")
        return None
    return found.id


def here_or_new(writing: Writing, named: str) -> str:
    """Return the name or id of the project to save to; a repository that has none yet is bound to one."""
    if named:
        return named
    found = projects.of_directory(writing.connection, Path.cwd())
    if found is not None:
        return found.id
    place = Checkout.of(Path.cwd())
    if not place.root or projects.find(writing.connection, place.name) is not None:
        raise _nowhere()
    return projects.bind(writing, place.name, Path.cwd()).id


def _nowhere() -> NotFoundError:
    return NotFoundError(
        "project: the current directory belongs to none",
        code="project.unknown",
        hint="name one with --project, or: ghost project bind NAME .",
    )
