"""The sense of meaning as one part: the vector leg of search, the thread that feeds it, and how both are.

with Sense.open(settings, journal.engine, clock, resolve) as sense:
    search(connection, query, vectors=sense.vectors, …)
    sense.saved()           # after a save; returns at once
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from sqlalchemy.engine import Engine

from ghost_core.clock import Clock
from ghost_core.settings import Settings
from ghost_memory import pgvector
from ghost_memory.asking import Vectors
from ghost_memory.embedding.choosing import Resolve, embedder_of
from ghost_memory.matrix import Matrix
from ghost_memory.pgvector import PgVector
from ghost_memory.worker import Worker

__all__ = ["Sense"]


class Sense:
    """What the settings ask for, nothing at all with `backend = "none"`."""

    def __init__(
        self,
        matrix: Matrix | None = None,
        leg: Matrix | PgVector | None = None,
        worker: Worker | None = None,
    ) -> None:
        self._matrix = matrix
        self._leg = leg
        self._worker = worker

    @classmethod
    def open(
        cls,
        settings: Settings,
        engine: Engine,
        clock: Clock,
        resolve: Resolve,
        *,
        background: bool = True,
    ) -> Self:
        """Build what the settings ask for, and start the thread unless a short command needs none.

        Raises ConfigError as `embedder_of`. Close it before the engine.
        """
        embedder = embedder_of(settings, resolve)
        if embedder is None:
            return cls()
        matrix = Matrix(engine, embedder)
        leg = pgvector.leg(engine, embedder, matrix)
        seconds = settings.memory.embedding.sweep_seconds
        worker = Worker(engine, embedder, matrix, clock, sweep_seconds=seconds)
        if background:
            worker.start()
        return cls(matrix, leg, worker)

    @property
    def vectors(self) -> Vectors | None:
        """The vector leg for `search`."""
        return self._leg

    def saved(self) -> None:
        """Say that texts came or changed; returns at once."""
        if self._worker is not None:
            self._worker.wake()

    def catch_up(self, seconds: float) -> bool:
        """Embed and link what waits, no longer than this; tell whether it got through."""
        return self._worker is None or self._worker.catch_up(seconds)

    def health(self) -> Mapping[str, object]:
        """Return model, who compares, how many are embedded and wait, others, trouble; empty without one."""
        if self._worker is None or self._leg is None:
            return {}
        found = self._worker.health()
        told: dict[str, object] = {"model": found.space, "trouble": found.trouble}
        told["compared_by"] = self._leg.by
        if found.counts is not None:
            told |= {"embedded": found.counts.embedded, "pending": found.counts.pending}
            told["others"] = dict(found.counts.others)
        return told

    def close(self) -> None:
        """End the thread, within two seconds, and give the connections back."""
        if self._worker is not None:
            self._worker.stop()
        if self._matrix is not None:
            self._matrix.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
