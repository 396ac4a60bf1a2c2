"""Vectors compared by PostgreSQL: the answers are numpy's, and pgvector may come late and go early."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from ghost_core import db
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_core.settings_models import SearchSettings
from ghost_ledger.recorder import Recorder
from ghost_memory import changing, pgvector, projects, vectors
from ghost_memory.asking import Query
from ghost_memory.changing import Fields
from ghost_memory.embedding.embedder import Embedder, Rows, unit
from ghost_memory.journal import Journal, Who
from ghost_memory.matrix import Matrix
from ghost_memory.pgvector import PgVector
from ghost_memory.pgvector_column import ready
from ghost_memory.search import search
from ghost_memory.sense import Sense
from ghost_memory.values import GLOBAL, Memory
from ghost_memory.vectors import Vector
from support.embedding import WordsEmbedder
from support.handclock import HandClock
from support.memory import PROJECT, Store
from support.postgres import USER, Server, Shared

pytestmark = pytest.mark.postgres

CLOSE = 1e-6  # what adding up in another order may make of it
NOW = "2026-12-01T00:00:00.000000Z"
GONE = "DROP EXTENSION vector CASCADE"
COLUMN = (
    "SELECT count(*) FROM pg_attribute WHERE attrelid = 'memory_embeddings'::regclass"
    " AND attname = 'vector' AND NOT attisdropped"
)
MEMORY = (
    "INSERT INTO memories (id, project_id, category, content, created_at, updated_at, digest)"
    " VALUES (:id, :project, 'fact', :content, :now, :now, :id)"
)


@dataclass(slots=True)
class AnyEmbedder(WordsEmbedder):
    """Gives every text a direction of its own."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Rows:
        seeds = [zlib.crc32(text.encode()) for text in texts]
        rows = [np.random.default_rng(each).standard_normal(self.dimensions) for each in seeds]
        return unit(np.array(rows, np.float32).reshape(len(texts), self.dimensions))


@pytest.fixture
def memory(tmp_path: Path, able: Shared) -> Iterator[Store]:
    clock = HandClock()
    with Recorder.open(Home(tmp_path), able.url, clock=clock, linger_us=0) as recorder:
        store = Store(tmp_path, Journal(recorder, clock, Who("test")), clock, recorder)
        for name in (PROJECT, "other", GLOBAL):
            store.write(lambda writing, name=name: projects.ensure(writing, name))
        yield store


@dataclass(frozen=True, slots=True)
class Both:
    """The same vectors, compared by the server and by numpy."""

    memory: Store
    embedder: WordsEmbedder
    server: PgVector
    numpy: Matrix

    def near(self, text: str, *in_: str, limit: int = 10) -> dict[str, float]:
        """Return the answer of both, which is one up to rounding."""
        one, two = (
            dict(each.near(text, projects=in_ or None, limit=limit))
            for each in (self.server, self.numpy)
        )
        assert list(one.values()) == pytest.approx(list(two.values()), abs=CLOSE)
        worst = min(one.values(), default=0.0)
        for each in one.keys() | two.keys():
            found = one.get(each, worst), two.get(each, worst)
            assert found[0] == pytest.approx(found[1], abs=CLOSE)
        return one


def both(memory: Store, embedder: WordsEmbedder) -> Iterator[Both]:
    engine = memory.recorder.engine
    matrix = Matrix(engine, embedder)
    leg = pgvector.leg(engine, embedder, matrix)
    assert isinstance(leg, PgVector)
    yield Both(memory, embedder, leg, matrix)
    assert leg.by == "pgvector"
    matrix.close()


@pytest.fixture
def any_(memory: Store) -> Iterator[Both]:
    yield from both(memory, AnyEmbedder())


@pytest.fixture
def words(memory: Store) -> Iterator[Both]:
    yield from both(memory, WordsEmbedder())


def fill(memory: Store, embedder: Embedder, project: str, texts: Sequence[str]) -> None:
    """Keep many texts with their vectors, without an entry for each."""
    rows = embedder.embed(texts)
    ids = [f"{project}-{embedder.space().id}-{number}" for number in range(len(texts))]
    values = [
        {"id": each, "project": project, "content": text, "now": NOW}
        for each, text in zip(ids, texts, strict=True)
    ]
    made = [Vector(*each) for each in zip(ids, texts, (r.tobytes() for r in rows), strict=True)]
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text(MEMORY), values)
        vectors.keep(connection, embedder.space(), made, NOW)


def embedded(
    memory: Store, embedder: Embedder, *texts: str, project: str = PROJECT
) -> list[Memory]:
    kept = [memory.keep(text, project) for text in texts]
    store(memory, embedder, kept)
    return kept


def store(memory: Store, embedder: Embedder, kept: Sequence[Memory]) -> None:
    rows = embedder.embed([each.content for each in kept])
    made = [Vector(m.id, m.content, row.tobytes()) for m, row in zip(kept, rows, strict=True)]
    with db.write(memory.recorder.engine) as connection:
        vectors.keep(connection, embedder.space(), made, NOW)


def lines(count: int) -> list[str]:
    return [f"line {number}" for number in range(count)]


@pytest.mark.parametrize("dimensions", [2, 7, 256, 768, 3072])
def test_the_answers_are_those_of_numpy(any_: Both, dimensions: int):
    any_.embedder.dimensions = dimensions
    for project, count in ((PROJECT, 150), ("other", 100), (GLOBAL, 50)):
        fill(any_.memory, any_.embedder, project, lines(count))
    for question in ("one question", "another question", "line 7"):
        assert len(any_.near(question, limit=1000)) == 300
        assert len(any_.near(question, PROJECT, limit=1000)) == 150
        assert len(any_.near(question, PROJECT, GLOBAL, limit=20)) == 20
        assert any_.near(question, "unknown") == {}
        assert any_.near(question, limit=0) == {}
    (best,) = any_.near("line 7", "other", limit=1).values()
    assert best == pytest.approx(1.0)


def test_of_equals_the_newest_come_first(words: Both):
    fill(words.memory, words.embedder, PROJECT, ["port eight"] * 20 + ["port nine"] * 20)
    newest = [f"{PROJECT}-words@1/64-{number}" for number in (19, 18, 17)]
    assert list(words.near("eight", limit=3)) == newest
    assert list(words.numpy.near("eight", projects=None, limit=3)) == newest
    assert len(words.near("port", limit=30)) == 30
    assert words.near("   ") == {}


def test_every_change_is_seen_at_once(words: Both):
    memory, embedder = words.memory, words.embedder
    one, two, three = embedded(memory, embedder, "port 1", "port 2", "port 3")
    assert set(words.near("port", PROJECT)) == {one.id, two.id, three.id}
    memory.write(lambda each: changing.delete(each, PROJECT, one.id))
    assert set(words.near("port", PROJECT)) == {two.id, three.id}
    memory.write(lambda each: changing.promote(each, PROJECT, two.id))
    assert set(words.near("port", PROJECT)) == {three.id}
    assert set(words.near("port", GLOBAL)) == {two.id}
    memory.write(lambda each: changing.update(each, PROJECT, three.id, Fields("something else")))
    assert words.near("port", PROJECT) == {}
    store(memory, embedder, [memory.get(three.id)])
    assert set(words.near("something", PROJECT)) == {three.id}


def test_vectors_of_another_space_are_never_compared(words: Both):
    (one,) = embedded(words.memory, words.embedder, "port eight")
    (two,) = embedded(words.memory, WordsEmbedder(revision="2"), "port eight again")
    (three,) = embedded(words.memory, WordsEmbedder(dimensions=7), "port eight once more")
    assert set(words.near("port")) == {one.id}
    words.embedder.revision = "2"
    assert set(words.near("port")) == {two.id}
    words.embedder.revision, words.embedder.dimensions = "1", 7
    assert set(words.near("port")) == {three.id}


def test_a_damaged_vector_is_near_to_nobody(words: Both, able: Shared):
    one, two, three = embedded(words.memory, words.embedder, "port 1", "port 2", "port 3")
    for damaged, data in ((one, ""), (three, "00")):
        able.run(
            f"UPDATE memory_embeddings SET embedding = '\\x{data}' WHERE memory_id = '{damaged.id}'"
        )
    assert words.near("port") == {two.id: pytest.approx(0.70710677), three.id: 0.0, one.id: 0.0}
    able.run(  # a whole vector, but not of the length that its space has
        "UPDATE memory_embeddings SET dimensions = 2, embedding = '\\x0000803f0000803f'"
        f" WHERE memory_id = '{one.id}'"
    )
    assert list(words.near("port")) == [two.id, three.id, one.id]


def test_every_float_is_read_exactly_and_what_is_no_number_is_no_vector(words: Both, able: Shared):
    edges = np.array([0, 1, -1, 1e-45, -1.1754944e-38, 1.17549421e-38, 3.4028235e38], "<f4")
    numbers = np.random.default_rng(1).integers(0, 2**32, 4000, np.uint32).view("<f4")
    given = np.concatenate([edges, numbers[np.isfinite(numbers)]])
    read = able.run(f"SELECT {in_sql(given)}::real[]")[0]
    assert np.array(read, "<f4").tolist() == given.tolist()
    for number in (np.nan, np.inf, -np.inf):
        assert able.run(f"SELECT {in_sql(np.array([1, number]))} IS NULL") == [True]


def in_sql(numbers: np.ndarray) -> str:
    return f"ghost_vector('\\x{numbers.astype('<f4').tobytes().hex()}', {len(numbers)})"


def test_search_finds_by_meaning_and_health_says_who_compares(memory: Store):
    memory.save("Log in to postgres with the password in the vault.")
    memory.save("The logo is blue.")
    with sensed(memory) as sense:
        assert sense.catch_up(20.0)
        with memory.journal.read() as connection:
            query = Query("database credentials", PROJECT)
            found = search(
                connection, query, vectors=sense.vectors, settings=SearchSettings(), now=NOW
            )
        assert sense.health()["compared_by"] == "pgvector"
    assert found.degraded == ""
    assert found.hits[0].memory.content.startswith("Log in")


def sensed(memory: Store) -> Sense:
    engine = memory.recorder.engine
    return Sense.open(Settings(), engine, memory.clock, no_secret, background=False)


def no_secret(reference: object) -> None:
    raise AssertionError(reference)


def test_pgvector_may_come_later(memory: Store, able: Shared, vector_server: Server):
    """First the role may not make it, then its administrator does; vectors of before and after are there."""
    embedder = WordsEmbedder()
    first = embedded(memory, embedder, "port eight")
    able.run(
        f"CREATE ROLE {able.name}_app LOGIN", f"GRANT USAGE ON SCHEMA public TO {able.name}_app"
    )
    able.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {able.name}_app")
    engine = db.engine(able.url.replace(f"{USER}@", f"{able.name}_app@"))
    matrix = Matrix(engine, embedder)
    assert pgvector.leg(engine, embedder, matrix) is matrix
    able.run("CREATE EXTENSION vector")
    assert pgvector.leg(engine, embedder, matrix) is matrix
    ready(memory.recorder.engine)
    leg = pgvector.leg(engine, embedder, matrix)
    second = embedded(memory, embedder, "port eight again")
    assert leg.by == "pgvector"
    assert list(leg.near("port eight", projects=None, limit=9)) == [first[0].id, second[0].id]
    matrix.close()
    engine.dispose()


def test_many_open_at_once_and_all_have_it(able: Shared):
    def look() -> None:
        engine = db.engine(able.url)
        found.append(ready(engine))
        engine.dispose()

    found: list[str] = []
    threads = [threading.Thread(target=look) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert found == ["public"] * 4


def test_a_table_that_is_in_use_is_not_waited_for(memory: Store, able: Shared):
    engine = db.engine(able.url, busy_seconds=0.1)
    matrix = Matrix(engine, WordsEmbedder())
    with able.server.connect(able.name) as other, other.transaction():
        other.execute("LOCK TABLE memory_embeddings IN ACCESS SHARE MODE")
        assert pgvector.leg(engine, WordsEmbedder(), matrix).by == "numpy"
    assert pgvector.leg(engine, WordsEmbedder(), matrix).by == "pgvector"
    engine.dispose()


def test_an_extension_in_a_schema_of_its_own_may_move(words: Both, able: Shared):
    able.run(GONE, 'CREATE SCHEMA "Its own"', 'CREATE EXTENSION vector SCHEMA "Its own"')
    assert ready(words.memory.recorder.engine) == '"Its own"'
    (one,) = embedded(words.memory, words.embedder, "port eight")
    able.run("ALTER EXTENSION vector SET SCHEMA public")
    (two,) = embedded(words.memory, words.embedder, "port nine")
    assert set(words.near("port")) == {one.id, two.id}


def test_pgvector_may_go_while_it_is_used(words: Both, able: Shared):
    (one,) = embedded(words.memory, words.embedder, "port eight")
    assert set(words.near("port")) == {one.id}
    able.run(GONE)
    (two,) = embedded(words.memory, words.embedder, "port nine")
    assert set(words.server.near("port", projects=None, limit=9)) == {one.id, two.id}
    assert words.server.by == "numpy"
    assert able.run(COLUMN) == [0]
    assert ready(words.memory.recorder.engine) == "public"  # and who may makes it anew
    words.server._has_gone = False
    assert set(words.near("port")) == {one.id, two.id}
