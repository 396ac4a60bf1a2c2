"""A memory to try things on: a journal on a temporary home, a clock that a test moves, short ways to save.

with memory_at(tmp_path / "home") as memory:
    saved = memory.save("the port is 8402", "app")
    memory.read(lambda connection: memories.get(connection, saved.id))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from sqlalchemy.engine import Connection

from ghost_core.paths import Home
from ghost_ledger.recorder import Recorder
from ghost_memory import binding, memories, projects, saving, words
from ghost_memory.journal import Journal, Who, Writing
from ghost_memory.saving import Note
from ghost_memory.values import Memory, Project, Saved
from support import ledger
from support.database import prepare
from support.files import contents
from support.handclock import HandClock

WHO = Who("test")
PROJECT = "app"
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"  # what the secret detector removes


class Parts(TypedDict, total=False):
    """What a note may have beside its text."""

    category: str
    importance: float
    tags: tuple[str, ...]
    source: str
    supersedes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """The memory of one home; `clock` moves only by hand."""

    folder: Path
    journal: Journal
    clock: HandClock
    recorder: Recorder

    def save(self, content: str, project: str = PROJECT, **parts: Unpack[Parts]) -> Saved:
        """Save one text."""
        return self.write(lambda writing: saving.save(writing, project, Note(content, **parts)))

    def keep(self, content: str, project: str = PROJECT, **parts: Unpack[Parts]) -> Memory:
        """Save one text and return the row."""
        made = self.save(content, project, **parts).id
        return self.read(lambda connection: memories.get(connection, made))

    def get(self, memory_id: str) -> Memory:
        """Return a memory as it is now."""
        return self.read(lambda connection: memories.get(connection, memory_id))

    def bind(self, project: str, directory: Path) -> Project:
        """Bind a directory to a project."""
        return self.write(lambda writing: binding.bind(writing, project, directory))

    def project_of(self, directory: Path) -> str | None:
        """Return the id of the project that a directory belongs to."""
        found = self.read(lambda connection: projects.of_directory(connection, directory))
        return found and found.id

    def write[T](self, work: Callable[[Writing], T]) -> T:
        """Run one change in a transaction of its own."""
        return self.journal.write(work)

    def read[T](self, look: Callable[[Connection], T]) -> T:
        """Look at one state."""
        with self.journal.read() as connection:
            return look(connection)

    def rows(self, query: str, *values: object) -> list[Any]:
        """Ask the database from outside; rows of one column as plain values."""
        return ledger.rows(self.folder, query, *values)

    def found(self, asked: str) -> list[str]:
        """Return the ids that the full-text index finds."""
        query = words.query(asked)
        return self.rows(
            "SELECT m.id FROM memories_fts f JOIN memories m ON m.seq = f.rowid WHERE memories_fts MATCH ?",
            query,
        ) if query else []  # fmt: skip

    def links(self) -> list[tuple[str, str, str]]:
        """Return every link, ended ones too: from, to and kind, oldest first."""
        return self.rows("SELECT source_id, target_id, relation FROM memory_links ORDER BY rowid")

    def changes(self) -> list[dict[str, Any]]:
        """Return the fields of every `memory.changed` entry, oldest first."""
        bodies = self.rows("SELECT body FROM entries WHERE type = 'memory.changed' ORDER BY idx")
        return [json.loads(body) for body in bodies]

    def kinds(self) -> list[str]:
        """Return the kind of every change, oldest first."""
        return [str(each["change"]) for each in self.changes()]

    def on_disk(self) -> bytes:
        """Return every byte of the home: database, write-ahead log, logs, heads."""
        return b"".join(contents(self.folder).values())


@contextmanager
def memory_at(
    folder: Path, *, clock: HandClock | None = None, who: Who = WHO, busy_seconds: float = 5.0
) -> Iterator[Store]:
    """Open the memory of a home folder."""
    clock = clock or HandClock()
    prepare(folder)
    recorder = Recorder.open(
        Home(folder),
        ledger.url_of(folder),
        clock=clock,
        linger_us=0,
        busy_seconds=busy_seconds,
        with_memory=True,
    )
    with recorder:
        yield Store(folder, Journal(recorder, clock, who), clock, recorder)
