"""Measure search on PostgreSQL with vectors compared by numpy and by pgvector, on the same memories.

    python bench/memory_postgres.py URL [--sizes 1000,10000] [--questions 100]

URL is an empty database of a server that has pgvector; it is filled and left so, and sizes must grow. Texts
are those of `memory.py`, vectors have 256 random dimensions, all in one project; the time of an embedder is
not in the figures. `first` is a leg that was just opened, as in a command of its own; `after a write` asks
once another connection has committed. Wall clock of the client in milliseconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.paths import Home
from ghost_ledger.recorder import Recorder
from ghost_memory import pgvector, projects, vectors
from ghost_memory.asking import Vectors
from ghost_memory.candidates import DEPTH
from ghost_memory.embedding.embedder import Rows, Space, unit
from ghost_memory.journal import Journal, Who
from ghost_memory.matrix import Matrix
from ghost_memory.values import GLOBAL
from ghost_memory.vectors import Vector
from memory import INSERT, NOW, SEED, find, row, save, sentence, timed

type Taken = list[tuple[float, float]]

DIMENSIONS = 256
BATCH = 1000


class Random:
    """Gives every text a direction."""

    weight = 0.3

    def space(self) -> Space:
        return Space("random", "1", DIMENSIONS)

    def known(self) -> Space:
        return self.space()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Rows:  # noqa: ARG002
        random = np.random.default_rng(len(texts[0]))
        return unit(random.standard_normal((len(texts), DIMENSIONS), np.float32))

    def close(self) -> None:
        """Hold nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--questions", type=int, default=100)
    said = parser.parse_args()
    print("| memories | what | numpy p50 | p95 | pgvector p50 | p95 |\n|--:|---|--:|--:|--:|--:|")
    with (
        TemporaryDirectory(prefix="ghost-memory-") as folder,
        Recorder.open(Home(Path(folder)), said.url, with_memory=True) as recorder,
    ):
        journal = Journal(recorder, SystemClock(), Who("bench"))
        journal.write(lambda w: projects.ensure(w, "app"))
        random, there = np.random.default_rng(SEED), 0
        for size in map(int, said.sizes.split(",")):
            fill(recorder.engine, range(there, size), random)
            asked = [sentence(random, 6, 14) for _ in range(said.questions)]
            measure(journal, size, asked)
            there = size


def fill(engine: Engine, numbers: range, random: np.random.Generator) -> None:
    for start in range(numbers.start, numbers.stop, BATCH):
        rows = [row(n, sentence(random, 20, 40), random) for n in range(start, start + BATCH)]
        places = unit(random.standard_normal((BATCH, DIMENSIONS), np.float32))
        made = [
            Vector(str(each["id"]), str(each["content"]), place.tobytes())
            for each, place in zip(rows, places, strict=True)
        ]
        with db.write(engine) as connection:
            connection.execute(sa.text(INSERT.replace("0, :at", "false, :at")), rows)
            vectors.keep(connection, Random().space(), made, NOW)
    with db.write(engine) as connection:
        connection.exec_driver_sql("ANALYZE")


def measure(journal: Journal, size: int, asked: Sequence[str]) -> None:
    matrix = Matrix(journal.engine, Random())
    legs = (matrix, pgvector.leg(journal.engine, Random(), matrix))
    assert legs[1].by == "pgvector"

    def after_write(leg: Vectors, text: str) -> Taken:
        save(journal, f"{size} {leg} {text}")
        return near(leg, text)

    def whole(leg: Vectors, text: str) -> Taken:
        with journal.read() as connection:
            return timed([text], lambda text: find(connection, text, leg))

    show(size, "vectors, first", by_turns(legs, asked[:1], near))
    show(size, "vectors", by_turns(legs, asked, near))
    show(size, "vectors, after a write", by_turns(legs, asked[:20], after_write))
    show(size, "search, words and vectors", by_turns(legs, asked, whole))
    matrix.close()


def near(leg: Vectors, text: str) -> Taken:
    return timed([text], lambda text: leg.near(text, projects={"app", GLOBAL}, limit=DEPTH))


def by_turns(
    legs: Sequence[Vectors], asked: Collection[str], work: Callable[[Vectors, str], Taken]
) -> list[Taken]:
    """Ask one leg, then the other, so that whatever else the machine does hits both alike."""
    taken: list[Taken] = [[] for _ in legs]
    for text in asked:
        for leg, found in zip(legs, taken, strict=True):
            found.extend(work(leg, text))
    return taken


def show(size: int, what: str, both: Sequence[Taken]) -> None:
    walls = ([1000 * wall for wall, _ in taken] for taken in both)
    figures = (each for wall in walls for each in np.percentile(wall, (50, 95)))
    print(f"| {size:,} | {what} | {' | '.join(f'{each:.1f}' for each in figures)} |", flush=True)


if __name__ == "__main__":
    main()
