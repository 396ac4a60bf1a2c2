"""The thread that makes vectors and links neighbours, while nobody waits for it.

Woken by a save, else every `sweep_seconds`. Newest first, a batch of each project in turn, so that no project
waits for another. A transaction is open only to read a batch or to write one, never while a model works.
Whatever fails is tried again at the next sweep, which says so once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy.engine import Engine

from ghost_core import db, log
from ghost_core.clock import Clock
from ghost_core.errors import GhostError, UnavailableError
from ghost_ledger.store import time_text
from ghost_memory import erasing, neighbours, vectors
from ghost_memory.embedding.embedder import Embedder, Space
from ghost_memory.embedding.remote import REFUSED
from ghost_memory.matrix import Matrix
from ghost_memory.vectors import BATCH, Counts, Text, Vector

__all__ = ["Health", "Worker"]

STOP_SECONDS: Final = 2.0
DISUSED_SECONDS: Final = 30 * 86_400


@dataclass(frozen=True, slots=True)
class Health:
    """How far the vectors are; `space` is empty while only the model could tell, `trouble` is what failed."""

    space: str
    counts: Counts | None
    trouble: str = ""


class Worker:
    """Embeds and links in the background; `matrix` is the one that search asks."""

    def __init__(
        self,
        engine: Engine,
        embedder: Embedder,
        matrix: Matrix,
        clock: Clock,
        *,
        sweep_seconds: float,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._matrix = matrix
        self._clock = clock
        self._sweep_seconds = sweep_seconds
        self._writing = db.Writing(engine)
        self._stopped = threading.Event()
        self._woken = threading.Event()
        self._refused = 0
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="ghost-vectors", daemon=True)

    def start(self) -> None:
        """Begin with a sweep."""
        self._thread.start()

    def catch_up(self, seconds: float) -> bool:
        """Run one sweep in the thread, which goes on until `stop`; tell whether these seconds were enough."""
        done = threading.Event()

        def once() -> None:
            self._trouble = self._swept()
            self._writing.close()
            done.set()

        self._thread = threading.Thread(target=once, name=self._thread.name, daemon=True)
        self._thread.start()
        return done.wait(seconds)

    def wake(self) -> None:
        """Say that something was saved; returns at once."""
        self._woken.set()

    def stop(self) -> None:
        """End the thread, within two seconds, also one that waits for a model."""
        self._stopped.set()
        self._woken.set()
        self._embedder.close()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)
        else:
            self._writing.close()

    def health(self) -> Health:
        """Return how many memories have a vector and wait, and what the last sweep met; asks no model."""
        space = self._embedder.known()
        if space is None:
            return Health("", None, self._trouble or "the model has not answered yet")
        with db.read(self._engine) as connection:
            return Health(space.id, vectors.counts(connection, space), self._trouble)

    def sweep(self) -> None:
        """Embed and link what waits; raises UnavailableError where model or database cannot be used."""
        space = self._embedder.space()
        while self._round_of_all(space):
            self._woken.clear()  # what came meanwhile goes first: begin anew with the newest
        self._link(space)
        if not self._stopped.is_set():
            self._drop_disused(space)
            self._remove_words()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            self._refused = 0
            self._warn(self._swept())
            self._woken.wait(self._sweep_seconds)
        self._writing.close()

    def _swept(self) -> str:
        """Run a sweep and return what went wrong, empty for nothing."""
        try:
            self.sweep()
        except GhostError as error:
            return error.message
        except Exception as error:  # noqa: BLE001  # a defect here must not end the thread, nor the server
            return f"{type(error).__name__} in {_place(error)}"
        return f"{self._refused} texts were refused by the model" if self._refused else ""

    def _warn(self, trouble: str) -> None:
        if trouble and not self._stopped.is_set():
            log.events(__name__).warning("memory.vectors_waiting", why=trouble)
        self._trouble = trouble

    def _round_of_all(self, space: Space) -> bool:
        """Embed batches of each project in turn until none is left; tell whether to begin anew."""
        with db.read(self._engine) as connection:
            queues = vectors.waiting(connection, space)
        for batch in _by_turns(queues):
            if self._stopped.is_set():
                return False
            self._embed(space, batch)
            if self._woken.is_set():
                return True
        return False

    def _embed(self, space: Space, seqs: list[int]) -> None:
        with db.read(self._engine) as connection:
            batch = vectors.texts(connection, seqs)
        made = self._vectors(batch)
        with self._writing.transaction() as connection:
            vectors.keep(connection, space, made, self._now())

    def _vectors(self, batch: list[Text]) -> list[Vector]:
        """Return the vectors of a batch; where the model refuses a text, those of the others."""
        try:
            rows = self._embedder.embed([each.content for each in batch])
        except UnavailableError as error:
            if error.code != REFUSED:
                raise
            if len(batch) < 2:
                self._refused += 1
                return []
            half = len(batch) // 2
            return [*self._vectors(batch[:half]), *self._vectors(batch[half:])]
        return [
            Vector(each.id, each.content, row.astype("<f4").tobytes())
            for each, row in zip(batch, rows, strict=True)
        ]

    def _link(self, space: Space) -> None:
        last = None
        while not self._stopped.is_set():
            with db.read(self._engine) as connection:
                found = neighbours.unlinked(connection, space, limit=BATCH)
                scanned = neighbours.bonds(connection, self._matrix, found)
            if not scanned or found == last:
                return
            with self._writing.transaction() as connection:
                neighbours.link(connection, scanned, self._now())
            last = found

    def _drop_disused(self, space: Space) -> None:
        before = time_text(self._clock.now_us() - DISUSED_SECONDS * 1_000_000)
        with self._writing.transaction() as connection:
            vectors.drop_disused(connection, space, before=before)

    def _remove_words(self) -> None:
        """Do what a process that ended too early has left to do."""
        with db.read(self._engine) as connection:
            due = erasing.is_due(connection)
        if due:
            erasing.finish(self._engine)

    def _now(self) -> str:
        return time_text(self._clock.now_us())


def _by_turns(queues: dict[str, list[int]]) -> Iterator[list[int]]:
    """Yield a batch of each queue, then the next of each, until all are through."""
    longest = max(map(len, queues.values()), default=0)
    for start in range(0, longest, BATCH):
        for queue in queues.values():
            if queue[start : start + BATCH]:
                yield queue[start : start + BATCH]


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}" if trace else "?"
