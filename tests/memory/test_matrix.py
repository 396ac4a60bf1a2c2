"""Who is near to whom: against a plain reckoning, through every kind of change."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core import db
from ghost_core.errors import UnavailableError
from ghost_memory import asking, belongings, changing, vectors
from ghost_memory.changing import Fields
from ghost_memory.matrix import Matrix, _nearest
from ghost_memory.values import Memory
from ghost_memory.vectors import Vector
from support.embedding import WordsEmbedder
from support.memory import PROJECT, Store


def embedded(
    memory: Store, embedder: WordsEmbedder, *texts: str, project: str = PROJECT
) -> list[Memory]:
    kept = [memory.keep(text, project) for text in texts]
    store(memory, embedder, kept)
    return kept


def store(memory: Store, embedder: WordsEmbedder, kept: Sequence[Memory]) -> None:
    rows = embedder.embed([each.content for each in kept])
    made = [Vector(m.id, m.content, row.tobytes()) for m, row in zip(kept, rows, strict=True)]
    with db.write(memory.recorder.engine) as connection:
        vectors.keep(connection, embedder.space(), made, "2026-12-01")


def near(matrix: Matrix, text: str, *in_: str, limit: int = 10) -> list[str]:
    return list(matrix.near(text, projects=in_ or None, limit=limit))


def test_it_is_the_vector_leg_of_search(matrix: Matrix) -> None:
    leg: asking.Vectors = matrix
    assert leg.weight == 0.3


def test_the_nearest_come_first_with_their_cosine(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two, _ = embedded(memory, embedder, "port eight", "port nine", "wholly other")
    found = matrix.near("port eight", projects=None, limit=2)
    assert list(found) == [one.id, two.id]
    assert found[one.id] == pytest.approx(1.0)
    assert found[two.id] == pytest.approx(0.5)


def test_an_empty_store_and_a_limit_of_nothing_have_nobody(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    assert near(matrix, "port") == []
    embedded(memory, embedder, "port eight")
    assert near(matrix, "port", limit=0) == []


def test_a_text_that_says_nothing_is_near_to_nobody(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    embedded(memory, embedder, "port eight")
    assert near(matrix, "   ") == []


def test_projects_are_chosen_before_the_best_are(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    embedded(memory, embedder, *(f"port eight {n}" for n in range(9)), project="other")
    mine = embedded(memory, embedder, "port eight and more words beside")
    assert near(matrix, "port eight", PROJECT, limit=1) == [mine[0].id]
    assert near(matrix, "port eight", "unknown") == []
    assert len(near(matrix, "port eight", PROJECT, "other")) == 10


def test_what_comes_later_is_found_at_once(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    assert near(matrix, "port", PROJECT) == []
    for count in range(1, 12):
        embedded(memory, embedder, f"port {count}")
        assert len(near(matrix, "port", PROJECT, limit=100)) == count


def test_only_what_came_is_read(memory: Store, embedder: WordsEmbedder, matrix: Matrix) -> None:
    embedded(memory, embedder, "port one", "port two")
    near(matrix, "port")
    asked: list[object] = []
    sa.event.listen(
        memory.recorder.engine,
        "before_cursor_execute",
        lambda _c, _u, _statement, values, _x, _m: asked.append(values),
    )
    near(matrix, "port")
    assert asked == []
    embedded(memory, embedder, "port three")
    asked.clear()
    near(matrix, "port")
    assert next(each for each in asked if each) == (embedder.space().id, 2)


def test_deleted_changed_and_moved_memories_are_seen_as_they_are(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two, three, four = embedded(memory, embedder, "port 1", "port 2", "port 3", "port 4")
    assert set(near(matrix, "port", PROJECT)) == {one.id, two.id, three.id, four.id}
    memory.write(lambda each: changing.delete(each, PROJECT, one.id))
    assert set(near(matrix, "port", PROJECT)) == {two.id, three.id, four.id}
    memory.write(lambda each: changing.promote(each, PROJECT, two.id))
    assert set(near(matrix, "port", PROJECT)) == {three.id, four.id}
    assert near(matrix, "port", "_global") == [two.id]
    memory.write(lambda each: changing.update(each, PROJECT, three.id, Fields("something else")))
    assert near(matrix, "port", PROJECT) == [four.id]
    store(memory, embedder, [memory.get(three.id)])
    assert near(matrix, "something else", PROJECT, limit=1) == [three.id]
    memory.save("what makes it a project", "another")
    memory.write(lambda each: belongings.merge(each, PROJECT, "another"))
    assert set(near(matrix, "port", "another")) == {three.id, four.id}


def test_vectors_of_another_space_are_never_compared(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    (one,) = embedded(memory, embedder, "port eight")
    two = embedded(memory, WordsEmbedder(revision="2"), "port eight again")[0]
    assert near(matrix, "port") == [one.id]
    embedder.revision = "2"
    assert near(matrix, "port") == [two.id]
    embedder.revision, embedder.dimensions = "3", 7
    assert near(matrix, "port") == []


def test_a_damaged_vector_is_near_to_nobody(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two = embedded(memory, embedder, "port eight", "port nine")
    with db.write(memory.recorder.engine) as connection:
        connection.execute(
            sa.text("UPDATE memory_embeddings SET embedding = x'00' WHERE memory_id = :id"),
            {"id": one.id},
        )
    found = matrix.near("port", projects=None, limit=5)
    assert list(found) == [two.id, one.id]
    assert found[one.id] == 0.0


def test_neighbours_leave_out_the_memory_itself(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two, three = embedded(memory, embedder, "port eight", "port nine", "port eight two")
    memory.save("no vector yet")

    def around(*ids: str, project: str = PROJECT, limit: int = 5) -> dict[str, list[str]]:
        found = matrix.around(ids, projects={project}, limit=limit)
        return {each: list(near) for each, near in found.items()}

    assert around(one.id, limit=1) == {one.id: [three.id]}
    both = around(one.id, two.id)
    assert both[one.id] == [three.id, two.id]
    assert both[two.id] == [one.id, three.id]
    assert around(one.id, project="unknown") == {one.id: []}
    assert around("unknown") == {}


def test_the_cosine_of_two_needs_both(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two = embedded(memory, embedder, "port eight", "port nine")
    assert matrix.cosine(one.id, two.id) == pytest.approx(0.5)
    assert matrix.cosine(one.id, "unknown") is None
    assert matrix.cosine("unknown", one.id) is None


def test_a_model_that_is_away_is_said(embedder: WordsEmbedder, matrix: Matrix) -> None:
    embedder.down = True
    with pytest.raises(UnavailableError):
        near(matrix, "port")


def test_after_an_error_the_next_question_begins_anew(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    (one,) = embedded(memory, embedder, "port eight")
    assert near(matrix, "port") == [one.id]
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text("ALTER TABLE memory_embeddings RENAME TO away"))
    with pytest.raises(UnavailableError):
        near(matrix, "port")
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text("ALTER TABLE away RENAME TO memory_embeddings"))
    assert near(matrix, "port") == [one.id]


def test_threads_ask_while_others_write(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    wrong: list[str] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            found = matrix.near("port", projects={PROJECT}, limit=100)
            wrong.extend(each for each, score in found.items() if score < 0.5)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for each in threads:
        each.start()
    for number in range(30):
        kept = embedded(memory, embedder, f"port {number}")
        if number % 3 == 0:
            memory.write(lambda each, k=kept: changing.delete(each, PROJECT, k[0].id))
    done.set()
    for each in threads:
        each.join(5)
    assert wrong == []
    assert len(near(matrix, "port", PROJECT, limit=100)) == 20


@given(
    data=st.data(),
    count=st.integers(0, 40),
    limit=st.integers(0, 45),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_best_are_those_of_a_plain_reckoning(
    data: st.DataObject, count: int, limit: int
) -> None:
    numbers = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    rows = np.array(
        data.draw(st.lists(st.tuples(numbers, numbers), min_size=count, max_size=count)), np.float32
    ).reshape(-1, 2)
    places = data.draw(st.none() | st.sets(st.integers(0, max(0, count - 1)), max_size=count))
    chosen = None if places is None else np.array(sorted(p for p in places if p < count), np.int64)
    asked = np.array([1.0, 0.5], np.float32)
    ids = [f"m{number}" for number in range(count)]
    found = _nearest(ids, rows, chosen, asked, limit)
    pool = range(count) if chosen is None else chosen.tolist()
    plain = sorted(pool, key=lambda each: (-float(rows[each] @ asked), -each))[:limit]
    assert list(found) == [ids[each] for each in plain]
