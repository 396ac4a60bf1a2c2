"""All vectors of a space as one matrix in memory, and who is near to whom in it.

A held connection tells by its `data_version` that somebody has committed; then only what came since is
read, for numbers of vectors only grow. Brute force: 10,000 vectors take about a millisecond. Projects are
chosen before anything is scored, and vectors of another space are never looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_memory.embedding.embedder import Embedder, Rows, Space

__all__ = ["Matrix"]

type Numbers = npt.NDArray[np.int64]

_ROOM: Final = 1.5
_NEWER: Final = (
    "SELECT e.seq, m.seq, m.id, e.embedding FROM memory_embeddings e JOIN memories m ON m.id = e.memory_id"
    " WHERE e.model = :space AND e.seq > :last ORDER BY e.seq"
)
_COUNT: Final = "SELECT count(*) FROM memory_embeddings WHERE model = :space"
_PRESENT: Final = "SELECT seq FROM memory_embeddings WHERE model = :space"
_OF_PROJECTS: Final = sa.text("SELECT seq FROM memories WHERE project_id IN :projects").bindparams(
    sa.bindparam("projects", expanding=True, type_=sa.Text())
)


@dataclass(slots=True)
class _Held:
    """What is known of one space: numbers of vectors and memories, ids, and the rows with room to grow."""

    space: Space
    vectors: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    memories: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    ids: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    buffer: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.buffer = np.empty((0, self.space.dimensions), np.float32)

    @property
    def last(self) -> int:
        return int(self.vectors[-1]) if len(self.vectors) else 0

    def rows(self) -> Rows:
        return self.buffer[: len(self.ids)]

    def add(self, found: list[tuple[int, int, str, bytes]]) -> None:
        if not found:
            return
        width, start = self.space.dimensions, len(self.ids)
        blank = bytes(4 * width)
        data = b"".join(row[3] if len(row[3]) == len(blank) else blank for row in found)
        self._make_room(start + len(found))
        self.buffer[start : start + len(found)] = np.frombuffer(data, "<f4").reshape(-1, width)
        self.vectors = np.append(self.vectors, [row[0] for row in found])
        self.memories = np.append(self.memories, [row[1] for row in found])
        self.ids = [*self.ids, *(row[2] for row in found)]
        self.places.update({row[2]: start + number for number, row in enumerate(found)})

    def keep(self, present: Numbers) -> None:
        stays = np.isin(self.vectors, present)
        self.buffer = self.rows()[stays]
        self.vectors, self.memories = self.vectors[stays], self.memories[stays]
        self.ids = [each for each, here in zip(self.ids, stays, strict=True) if here]
        self.places = {each: number for number, each in enumerate(self.ids)}

    def _make_room(self, count: int) -> None:
        """Let views that others hold stay valid: what they see is never written again."""
        if count > len(self.buffer):
            larger = np.zeros((int(count * _ROOM), self.space.dimensions), np.float32)
            larger[: len(self.ids)] = self.rows()
            self.buffer = larger


class Matrix:
    """The vector leg of search, over what an embedder made; safe to share between threads."""

    by: Final = "numpy"

    def __init__(self, engine: Engine, embedder: Embedder) -> None:
        self.weight = embedder.weight
        self._engine = engine
        self._embedder = embedder
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._version: object = None
        self._held: _Held | None = None
        self._chosen: dict[frozenset[str], Numbers] = {}

    def near(
        self, text: str, *, projects: Collection[str] | None, limit: int
    ) -> Mapping[str, float]:
        """Return cosines by memory id, the nearest first; see `asking.Vectors`."""
        asked = self._embedder.embed([text], query=True)[0]
        if not asked.any():
            return {}
        space = self._embedder.space()
        with self._lock:
            held, chosen = self._look(space, projects)
            ids, rows = held.ids, held.rows()
        return _nearest(ids, rows, chosen, asked, limit)

    def around(
        self, memory_ids: Sequence[str], *, projects: Collection[str], limit: int
    ) -> dict[str, dict[str, float]]:
        """Return for each memory that has a vector the cosines of those nearest to it, without itself."""
        space = self._embedder.space()
        with self._lock:
            held, chosen = self._look(space, projects)
            ids, rows = held.ids, held.rows()
            places = {each: held.places[each] for each in memory_ids if each in held.places}
        if chosen is None or not places:
            return {}
        scores = rows[list(places.values())] @ rows[chosen].T
        found = {}
        for each, row in zip(places, scores, strict=True):
            near = _best(ids, chosen, row, limit + 1)
            near.pop(each, None)
            found[each] = dict(list(near.items())[:limit])
        return found

    def cosine(self, one: str, two: str) -> float | None:
        """Return how near two memories are; None where one has no vector."""
        space = self._embedder.space()
        with self._lock:
            held, _ = self._look(space, None)
            places = held.places.get(one), held.places.get(two)
            rows = held.rows()
        if places[0] is None or places[1] is None:
            return None
        return float(rows[places[0]] @ rows[places[1]])

    def close(self) -> None:
        """Give the connection back; the next question opens another."""
        with self._lock:
            self._let_go()

    def _look(self, space: Space, projects: Collection[str] | None) -> tuple[_Held, Numbers | None]:
        """Return the vectors as they are now, and the places of those of the projects (None: all)."""
        done = False
        try:
            with db.mapped(self._engine):
                held = self._fresh(space)
                chosen = None if projects is None else self._places(held, frozenset(projects))
            done = True
        finally:
            if not done:
                self._let_go()
        return held, chosen

    def _fresh(self, space: Space) -> _Held:
        if self._connection is None:
            self._connection = self._engine.connect()
        version = db.data_version(self._connection)
        held = self._held
        if held is not None and held.space == space and version == self._version:
            return held
        if held is None or held.space != space:
            held = _Held(space)
        with self._connection.begin():
            _catch_up(self._connection, held)
        self._held, self._version = held, version
        self._chosen.clear()
        return held

    def _places(self, held: _Held, projects: frozenset[str]) -> Numbers:
        found = self._chosen.get(projects)
        if found is None and self._connection is not None:
            with self._connection.begin():
                rows = self._connection.execute(
                    _OF_PROJECTS, {"projects": sorted(projects)}
                ).scalars()
                mine = np.array(rows.all(), np.int64)
            found = self._chosen[projects] = np.flatnonzero(np.isin(held.memories, mine))
        return np.empty(0, np.int64) if found is None else found

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        self._version, self._held = None, None
        self._chosen.clear()
        if connection is not None:
            connection.close()


def _catch_up(connection: Connection, held: _Held) -> None:
    """Read what came; and if there are fewer vectors than that makes, which of them are still there."""
    asked = {"space": held.space.id, "last": held.last}
    came = connection.execute(sa.text(_NEWER), asked)
    held.add([(int(row[0]), int(row[1]), str(row[2]), bytes(row[3])) for row in came])
    if connection.execute(sa.text(_COUNT), asked).scalar_one() != len(held.ids):
        present = connection.execute(sa.text(_PRESENT), asked).scalars()
        held.keep(np.array(present.all(), np.int64))


def _nearest(
    ids: list[str], rows: Rows, chosen: Numbers | None, asked: Rows, limit: int
) -> dict[str, float]:
    """Score the chosen rows and return the best.

    `einsum` adds up in this thread: as fast as BLAS for one vector, whose threads wait for each other where
    the processors are busy.
    """
    if chosen is None:
        return _best(ids, np.arange(len(rows)), np.einsum("ij,j->i", rows, asked), limit)
    if len(chosen) * 2 > len(rows):
        return _best(ids, chosen, np.einsum("ij,j->i", rows, asked)[chosen], limit)
    return _best(ids, chosen, np.einsum("ij,j->i", rows[chosen], asked), limit)


def _best(ids: list[str], places: Numbers, scores: Rows, limit: int) -> dict[str, float]:
    """Return the best scores by id; of equals the newest vectors first."""
    if limit < 1 or not len(scores):
        return {}
    if limit < len(scores):
        worst = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        kept = np.flatnonzero(scores >= worst)
        places, scores = places[kept], scores[kept]
    order = np.lexsort((-places, -scores))[:limit]
    return {ids[places[each]]: float(scores[each]) for each in order}
