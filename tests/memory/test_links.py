"""Edges between memories: direction, strength, replacement."""

from __future__ import annotations

import pytest

from ghost_core.errors import UsageError
from ghost_memory import links
from support.memory import Store


def three(memory: Store) -> tuple[str, str, str]:
    """Save three memories with nothing in common."""
    first, second, third = (memory.save(text).id for text in ("aa bb", "cc dd", "ee ff"))
    return first, second, third


def link(
    memory: Store, one: str, two: str, relation: str = "supersedes", strength: float = 1.0
) -> None:
    memory.write(lambda w: links.link(w, one, two, relation, strength=strength, source="manual"))


def edges(memory: Store, relation: str, *ids: str, at_least: float = 0.0) -> list[tuple[str, str]]:
    return memory.read(lambda c: links.between(c, ids, relation, at_least=at_least))


def test_only_related_has_no_direction(memory: Store) -> None:
    one, two, _ = three(memory)
    for relation in ("related", "causes"):
        link(memory, one, two, relation)
        link(memory, two, one, relation)
    assert edges(memory, "related", one, two) == [tuple(sorted((one, two)))]
    assert edges(memory, "causes", one, two) == sorted([(one, two), (two, one)])


def test_an_edge_made_again_keeps_the_greater_strength_and_lives(memory: Store) -> None:
    one, two, _ = three(memory)
    link(memory, one, two, strength=0.9)
    assert memory.write(lambda w: links.unlink(w, one, two, "supersedes"))
    assert edges(memory, "supersedes", one, two) == []
    link(memory, one, two, strength=0.2)
    assert edges(memory, "supersedes", one, two, at_least=0.9) == [(one, two)]


def test_an_edge_that_is_not_there_cannot_be_ended(memory: Store) -> None:
    one, two, _ = three(memory)
    assert not memory.write(lambda w: links.unlink(w, one, two, "causes"))
    assert "unlink.causes" not in memory.kinds()


def test_no_memory_is_linked_to_itself(memory: Store) -> None:
    one, *_ = three(memory)
    with pytest.raises(UsageError) as caught:
        link(memory, one, one)
    assert caught.value.code == "memory.link"


def test_an_edge_counts_only_with_both_ends(memory: Store) -> None:
    one, two, three_ = three(memory)
    link(memory, one, two)
    assert edges(memory, "supersedes", two, three_) == []
    assert edges(memory, "related", one, two) == []


def test_a_chain_leads_to_its_end(memory: Store) -> None:
    one, two, three_ = three(memory)
    link(memory, two, one)
    link(memory, three_, two)
    assert memory.read(lambda c: links.replacements(c, [one, two, three_])) == {
        one: three_,
        two: three_,
    }
    assert memory.read(lambda c: links.replacements(c, [])) == {}


def test_of_two_replacements_the_newest_is_named(memory: Store) -> None:
    one, two, three_ = three(memory)
    link(memory, three_, one)
    link(memory, two, one)
    assert memory.read(lambda c: links.replacements(c, [one])) == {one: three_}


def test_a_replacement_turned_round_ends_the_other(memory: Store) -> None:
    one, two, _ = three(memory)
    link(memory, two, one)
    link(memory, one, two)
    assert edges(memory, "supersedes", one, two) == [(one, two)]
    assert memory.kinds()[-2:] == ["unlink.supersedes", "link.supersedes"]


def test_a_ring_of_replacements_has_an_answer(memory: Store) -> None:
    one, two, three_ = three(memory)
    for newer, older in ((two, one), (three_, two), (one, three_)):
        link(memory, newer, older)
    found = memory.read(lambda c: links.replacements(c, [one, two, three_]))
    assert found.keys() == {one, two, three_}
    assert all(each != newest for each, newest in found.items())
