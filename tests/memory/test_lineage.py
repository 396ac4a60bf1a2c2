from __future__ import annotations

from ghost_memory import lineage, links
from ghost_memory.values import GLOBAL
from support.memory import Store


def replace(memory: Store, newer: str, older: str) -> None:
    memory.write(lambda w: links.link(w, newer, older, "supersedes", strength=1.0, source="manual"))


def lines_of(memory: Store, *ids: str) -> dict[str, tuple[str, ...]]:
    return memory.read(lambda connection: lineage.newer(connection, ids))


def test_a_chain_is_followed_to_its_end(memory: Store) -> None:
    one, two, three = (memory.save(f"version {word}").id for word in ("red", "green", "blue"))
    replace(memory, two, one)
    replace(memory, three, two)
    found = lines_of(memory, one, two, three)
    assert found == {one: (two, three), two: (three,)}
    assert lineage.newest(found, one) == three
    assert lineage.newest(found, three) == ""
    assert set(lineage.edges(found)) == {(two, one), (three, one), (three, two)}


def test_only_ones_own_project_and_what_all_share_replace(memory: Store) -> None:
    one, foreign = memory.save("version red").id, memory.save("version green", "other").id
    shared = memory.save("version blue", GLOBAL).id
    for older, newer in ((one, foreign), (one, shared), (shared, foreign), (foreign, one)):
        replace(memory, newer, older)
    assert lines_of(memory, one, foreign, shared) == {one: (shared,), foreign: (shared,)}


def test_an_edge_that_was_ended_replaces_nothing(memory: Store) -> None:
    one, two = memory.save("version red").id, memory.save("version green").id
    replace(memory, two, one)
    memory.write(lambda w: links.unlink(w, two, one, "supersedes"))
    assert lines_of(memory, one) == {}


def test_a_circle_ends_and_nothing_in_it_counts_as_replaced(memory: Store) -> None:
    one, two, three = (memory.save(f"version {word}").id for word in ("red", "green", "blue"))
    for newer, older in ((two, one), (three, two), (one, three)):
        replace(memory, newer, older)
    found = lines_of(memory, one, two, three)
    assert found == {one: (two, three), two: (one, three), three: (one, two)}
    assert [lineage.newest(found, each) for each in (one, two, three)] == ["", "", ""]


def test_a_fact_that_comes_back_replaces_what_had_replaced_it(memory: Store) -> None:
    one = memory.save("we deploy by hand").id
    two = memory.save("we deploy with the robot", supersedes=(one,)).id
    again = memory.save("we deploy by hand", supersedes=(two,))
    assert again.id == one
    assert lines_of(memory, one, two) == {two: (one,)}
