"""Edges `related`, made from nearness, and what they never touch."""

from __future__ import annotations

from ghost_core import db
from ghost_memory import changing, links, neighbours, vectors
from ghost_memory.changing import Fields
from ghost_memory.matrix import Matrix
from ghost_memory.neighbours import NEAREST
from ghost_memory.values import GLOBAL, Memory
from ghost_memory.vectors import Vector
from support.embedding import WordsEmbedder
from support.memory import PROJECT, Store

NOW = "2026-12-01T00:00:00.000000Z"
LIVE = (
    "SELECT source_id, target_id, source, round(strength, 3) FROM memory_links"
    " WHERE relation = 'related' AND invalidated_at IS NULL ORDER BY source_id, target_id"
)


def embedded(
    memory: Store, embedder: WordsEmbedder, *texts: str, project: str = PROJECT
) -> list[Memory]:
    kept = [
        memory.keep(text, project, category=c) for text, c in zip(texts, CATEGORIES, strict=False)
    ]
    embed(memory, embedder, kept)
    return kept


CATEGORIES = (
    "fact",
    "gotcha",
    "pattern",
    "decision",
    "architecture",
    "convention",
    "preference",
    "dependency",
)
# so that no save takes another for its twin


def embed(memory: Store, embedder: WordsEmbedder, kept: list[Memory]) -> None:
    rows = embedder.embed([each.content for each in kept])
    made = [Vector(m.id, m.content, row.tobytes()) for m, row in zip(kept, rows, strict=True)]
    with db.write(memory.recorder.engine) as connection:
        vectors.keep(connection, embedder.space(), made, NOW)


def scan(memory: Store, embedder: WordsEmbedder, matrix: Matrix) -> int:
    with memory.journal.read() as connection:
        found = neighbours.unlinked(connection, embedder.space(), limit=50)
        scanned = neighbours.bonds(connection, matrix, found)
    with db.write(memory.recorder.engine) as connection:
        neighbours.link(connection, scanned, NOW)
    return len(scanned)


def pair(one: Memory, two: Memory) -> tuple[str, str]:
    first, second = sorted((one.id, two.id))
    return first, second


def test_what_is_near_enough_is_linked_once_and_the_smaller_id_first(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two, _ = embedded(memory, embedder, "a b c d", "a b c e", "a x y z")
    assert scan(memory, embedder, matrix) == 3
    assert memory.rows(LIVE) == [(*pair(one, two), "auto", 0.75)]
    assert scan(memory, embedder, matrix) == 0


def test_links_stay_within_a_project_and_the_global_one(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    (one,) = embedded(memory, embedder, "a b c d")
    embedded(memory, embedder, "a b c d", project="other")
    (shared,) = embedded(memory, embedder, "a b c d", project=GLOBAL)
    scan(memory, embedder, matrix)
    ends = {row[:2] for row in memory.rows(LIVE)}
    assert pair(one, shared) in ends
    assert len(ends) == 2


def test_a_memory_links_to_no_more_than_the_nearest(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    kept = embedded(memory, embedder, *["a b c d e f g"] * 8)
    with memory.journal.read() as connection:
        ((first, found),) = neighbours.bonds(
            connection, matrix, neighbours.unlinked(connection, embedder.space(), limit=1)
        )
    assert len(found) == NEAREST
    assert first.id == kept[-1].id


def test_a_changed_text_mends_its_links(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two, three = embedded(memory, embedder, "a b c d", "a b c d", "a b c e")
    scan(memory, embedder, matrix)
    assert len(memory.rows(LIVE)) == 3
    memory.write(lambda each: changing.update(each, PROJECT, two.id, Fields("a b c k")))
    assert scan(memory, embedder, matrix) == 0  # not before it has a vector again
    embed(memory, embedder, [memory.get(two.id)])
    assert scan(memory, embedder, matrix) == 1
    assert {row[3] for row in memory.rows(LIVE)} == {0.75}
    memory.write(lambda each: changing.update(each, PROJECT, two.id, Fields("p q r s")))
    embed(memory, embedder, [memory.get(two.id)])
    scan(memory, embedder, matrix)
    assert [row[:2] for row in memory.rows(LIVE)] == [pair(one, three)]


def test_what_somebody_made_or_ended_stays(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two, three = embedded(memory, embedder, "a b c d", "a b c d", "p q r s")

    def tie(writing: object) -> None:
        links.link(writing, one.id, two.id, "related", strength=0.9, source="auto")  # type: ignore[arg-type]
        links.unlink(writing, one.id, two.id, "related")  # type: ignore[arg-type]
        links.link(writing, one.id, three.id, "related", strength=0.4, source="manual")  # type: ignore[arg-type]

    memory.write(tie)
    scan(memory, embedder, matrix)
    assert memory.rows(LIVE) == [(*pair(one, three), "manual", 0.4)]


def test_a_memory_that_went_meanwhile_is_left_out(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    one, two = embedded(memory, embedder, "a b c d", "a b c d")
    with memory.journal.read() as connection:
        found = neighbours.unlinked(connection, embedder.space(), limit=50)
        scanned = neighbours.bonds(connection, matrix, found)
    memory.write(lambda each: changing.delete(each, PROJECT, two.id))
    with db.write(memory.recorder.engine) as connection:
        neighbours.link(connection, scanned, NOW)
    assert memory.rows(LIVE) == []
    assert memory.rows("SELECT memory_id FROM link_scans") == [one.id]


def test_a_memory_that_changed_meanwhile_is_looked_at_again(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    (one,) = embedded(memory, embedder, "a b c d")
    with memory.journal.read() as connection:
        found = neighbours.unlinked(connection, embedder.space(), limit=50)
    memory.write(lambda each: changing.update(each, PROJECT, one.id, Fields("p q r s")))
    embed(memory, embedder, [memory.get(one.id)])
    with db.write(memory.recorder.engine) as connection:
        neighbours.link(connection, [(each, []) for each in found], NOW)
    assert scan(memory, embedder, matrix) == 1


def test_each_space_is_scanned_for_itself(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    kept = embedded(memory, embedder, "a b c d")
    scan(memory, embedder, matrix)
    embedder.revision = "2"
    embed(memory, embedder, kept)
    assert scan(memory, embedder, matrix) == 1


def test_derived_edges_are_no_entries(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    embedded(memory, embedder, "a b c d", "a b c d")
    before = memory.kinds()
    scan(memory, embedder, matrix)
    assert len(memory.rows(LIVE)) == 1
    assert memory.kinds() == before
