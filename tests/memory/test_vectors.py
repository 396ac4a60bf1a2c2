"""Vectors as rows: which memories lack one, what is kept, what is counted, what goes."""

from __future__ import annotations

from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_memory import changing, vectors
from ghost_memory.changing import Fields
from ghost_memory.embedding.embedder import Space
from ghost_memory.vectors import Vector
from support.memory import PROJECT, Store

ONE, TWO = Space("m", "1", 2), Space("m", "2", 2)
NOW = "2026-12-01T00:00:00.000000Z"
DATA = bytes(8)


def keep(memory: Store, *made: Vector, space: Space = ONE, now: str = NOW) -> None:
    with db.write(memory.recorder.engine) as connection:
        vectors.keep(connection, space, made, now)


def waiting(memory: Store, space: Space = ONE, project: str = PROJECT) -> list[str]:
    def look(connection: Connection) -> list[str]:
        seqs = vectors.waiting(connection, space).get(project, [])
        return [each.content for each in vectors.texts(connection, seqs)]

    return memory.read(look)


def counts(memory: Store, space: Space = ONE) -> vectors.Counts:
    return memory.read(lambda each: vectors.counts(each, space))


def test_what_waits_comes_newest_first_and_by_project(memory: Store) -> None:
    for text in ("first one", "second two", "third three"):
        memory.save(text)
    memory.save("of another", "other")
    assert waiting(memory) == ["third three", "second two", "first one"]
    assert waiting(memory, project="other") == ["of another"]


def test_what_waits_is_found_however_old_it_is(memory: Store) -> None:
    kept = [memory.keep(text) for text in ("first one", "second two", "third three")]
    keep(memory, *(Vector(each.id, each.content, DATA) for each in kept[1:]))
    assert waiting(memory) == ["first one"]
    keep(memory, Vector(kept[0].id, kept[0].content, DATA))
    assert memory.read(lambda each: vectors.waiting(each, ONE)) == {}


def test_a_memory_that_went_has_no_text(memory: Store) -> None:
    one = memory.keep("first one")
    assert memory.read(lambda each: vectors.texts(each, [one.seq, 99])) == [(one.id, "first one")]


def test_a_vector_counts_in_its_own_space_only(memory: Store) -> None:
    one = memory.keep("first one")
    memory.save("second two")
    keep(memory, Vector(one.id, one.content, DATA))
    assert waiting(memory) == ["second two"]
    assert waiting(memory, TWO) == ["second two", "first one"]
    assert counts(memory) == vectors.Counts(1, 1, {})
    assert counts(memory, TWO) == vectors.Counts(0, 2, {ONE.id: 1})


def test_spaces_lie_side_by_side(memory: Store) -> None:
    one = memory.keep("first one")
    for space in (ONE, TWO):
        keep(memory, Vector(one.id, one.content, DATA), space=space)
    assert counts(memory) == vectors.Counts(1, 0, {TWO.id: 1})


def test_a_text_that_changed_meanwhile_gets_no_old_vector(memory: Store) -> None:
    one = memory.keep("first one")
    memory.write(lambda each: changing.update(each, PROJECT, one.id, Fields("another text")))
    keep(memory, Vector(one.id, one.content, DATA), Vector("gone", "x", DATA))
    assert waiting(memory) == ["another text"]


def test_the_first_vector_of_a_space_stays(memory: Store) -> None:
    one = memory.keep("first one")
    keep(memory, Vector(one.id, one.content, DATA))
    keep(memory, Vector(one.id, one.content, b"12345678"))
    assert memory.rows("SELECT seq, embedding FROM memory_embeddings") == [(1, DATA)]


def test_a_changed_or_deleted_memory_has_no_vector(memory: Store) -> None:
    one, two = memory.keep("first one"), memory.keep("second two")
    keep(memory, *(Vector(each.id, each.content, DATA) for each in (one, two)))
    memory.write(lambda each: changing.update(each, PROJECT, one.id, Fields("another text")))
    memory.write(lambda each: changing.delete(each, PROJECT, two.id))
    assert memory.rows("SELECT memory_id FROM memory_embeddings") == []


def test_a_space_goes_when_nobody_has_written_in_it_for_long(memory: Store) -> None:
    one, two = memory.keep("first one"), memory.keep("second two")
    for each, now in ((one, "2026-01-01"), (two, "2026-03-01")):
        keep(memory, Vector(each.id, each.content, DATA), space=TWO, now=now)

    def drop(before: str) -> int:
        with db.write(memory.recorder.engine) as connection:
            return vectors.drop_disused(connection, ONE, before=before)

    assert drop("2026-02-01") == 0
    assert drop("2026-04-01") == 2
    keep(memory, Vector(one.id, one.content, DATA), now="2020-01-01")
    assert drop("2026-04-01") == 0


def test_vectors_are_no_entries(memory: Store) -> None:
    one = memory.keep("first one")
    before = len(memory.kinds())
    keep(memory, Vector(one.id, one.content, DATA))
    assert len(memory.kinds()) == before
