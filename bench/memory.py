"""Measure memory: search, the context block and a durable save at 1k, 10k and 100k memories.

    python bench/memory.py [--sizes 1000,10000,100000] [--questions 200] [--vectors]

Texts are made from a fixed vocabulary with falling frequency and a fixed seed, 20 to 40 words each, all in
one project, which is the hard case. The commonest words are those that English has most often, so that
what search does about them takes part. Without --vectors the keyword leg works alone; with it a matrix of
256 random dimensions stands for the embedder, whose own time is not in the figure. Wall clock and, because
other work on the machine only lengthens that, the CPU time of the process; milliseconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.paths import Home
from ghost_core.settings_models import SearchSettings
from ghost_ledger.recorder import Recorder
from ghost_memory import assemble, passive, projects, saving, words
from ghost_memory.asking import Query, Vectors
from ghost_memory.journal import Journal, Who
from ghost_memory.reader import opened
from ghost_memory.saving import Note
from ghost_memory.search import search

SEED = 20261201
VOCABULARY = 20_000
COMMON = sorted(words.STOP_WORDS)
NOW = "2026-09-01T12:00:00.000000Z"
CATEGORIES = ("fact", "gotcha", "decision", "pattern", "convention", "architecture")
INSERT = (
    "INSERT INTO memories (id, project_id, category, content, importance, source, tags, pinned, created_at,"
    " updated_at, pairs, digest) VALUES (:id, 'app', :category, :content, :importance, 'import', '[]',"
    " 0, :at, :at, '', :digest)"
)


@dataclass
class Random:
    """A matrix in place of an embedder."""

    ids: list[str]
    matrix: np.ndarray
    weight: float = 0.3

    def near(  # one project, so nothing to narrow
        self,
        text: str,
        *,
        projects: Collection[str] | None,  # noqa: ARG002
        limit: int,
    ) -> dict[str, float]:
        row = np.random.default_rng(len(text)).standard_normal(self.matrix.shape[1], np.float32)
        cosines = self.matrix @ (row / np.linalg.norm(row))
        best = np.argpartition(-cosines, min(limit, len(cosines) - 1))[:limit]
        return {self.ids[place]: float(cosines[place]) for place in best}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--vectors", action="store_true")
    said = parser.parse_args()
    print("| memories | what | p50 ms | p95 ms | p50 CPU ms |\n| --- | --- | --- | --- | --- |")
    for size in map(int, said.sizes.split(",")):
        with TemporaryDirectory(prefix="ghost-memory-") as folder:
            measure(Path(folder), size, said.questions, vectors=said.vectors)


def measure(folder: Path, size: int, questions: int, *, vectors: bool) -> None:
    file = folder / "ghost.db"
    recorder = Recorder.open(Home(folder), f"sqlite:///{file}", with_memory=True, linger_us=0)
    with recorder:
        journal = Journal(recorder, SystemClock(), Who("bench"))
        journal.write(lambda w: projects.ensure(w, "app"))
        random = np.random.default_rng(SEED)
        texts = [sentence(random, 20, 40) for _ in range(size)]
        with db.write(recorder.engine) as connection:
            connection.execute(sa.text(INSERT), [row(n, t, random) for n, t in enumerate(texts)])
        leg = embedded(size, random) if vectors else None
        asked = [sentence(random, 6, 14) for _ in range(questions)]
        with journal.read() as connection:
            show(size, "search", timed(asked, lambda text: find(connection, text, leg)))
            show(size, "block, engine", timed(range(50), lambda _: block(connection)))
        show(size, "block, sqlite3", timed(range(50), lambda _: plain_block(file)))
        show(size, "ghost context, process", [process(folder) for _ in range(15)])
        fresh = [sentence(random, 20, 40) for _ in range(100)]
        show(size, "save, durable", timed(fresh, lambda text: save(journal, text)))


def sentence(random: np.random.Generator, low: int, high: int) -> str:
    """Return words whose frequency falls with their number, as in any language."""
    ranks = random.zipf(1.15, int(random.integers(low, high))) % VOCABULARY
    return " ".join(COMMON[rank] if rank < len(COMMON) else f"w{rank:x}" for rank in ranks)


def row(number: int, text: str, random: np.random.Generator) -> dict[str, object]:
    return {
        "id": f"{number:032x}",
        "category": CATEGORIES[number % len(CATEGORIES)],
        "content": text,
        "importance": float(random.integers(1, 10)) / 10,
        "at": f"2026-0{1 + number % 8}-0{1 + number % 9}T00:00:00.000000Z",
        "digest": words.digest(text),
    }


def embedded(size: int, random: np.random.Generator) -> Random:
    matrix = random.standard_normal((size, 256), np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return Random([f"{number:032x}" for number in range(size)], matrix)


def find(connection: Connection, text: str, leg: Vectors | None) -> object:
    return search(connection, Query(text, "app"), vectors=leg, settings=SearchSettings(), now=NOW)


def block(connection: Connection) -> object:
    return assemble.block(passive.over(connection), projects.find(connection, "app"), now=NOW)


def plain_block(file: Path) -> object:
    with opened(file) as rows:
        assert rows is not None
        return assemble.block(rows, rows.project_of(Path("/nowhere/app")), now=NOW)


def process(folder: Path) -> tuple[float, float]:
    """Run the command as a hook does; return its wall clock and the CPU time of the child."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(Path(sys.executable).with_name("ghost")), "context", "--cwd", "/nowhere/app"]
    environ = {**os.environ, "GHOST_HOME": str(folder)}
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, busy


def save(journal: Journal, text: str) -> object:
    return journal.write(lambda w: saving.save(w, "app", Note(text)))


def timed[T](over: Collection[T], work: Callable[[T], object]) -> list[tuple[float, float]]:
    taken = []
    for each in over:
        start, busy = time.perf_counter(), time.process_time()
        work(each)
        taken.append((time.perf_counter() - start, time.process_time() - busy))
    return taken


def show(size: int, what: str, taken: list[tuple[float, float]]) -> None:
    wall, busy = (1000 * np.asarray(each) for each in zip(*taken, strict=True))
    figures = (*np.percentile(wall, (50, 95)), np.median(busy))
    print(f"| {size:,} | {what} | {' | '.join(f'{each:.1f}' for each in figures)} |", flush=True)


if __name__ == "__main__":
    main()
