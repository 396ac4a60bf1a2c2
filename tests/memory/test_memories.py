"""Reading memories."""

from __future__ import annotations

import pytest

from ghost_core.errors import NotFoundError, UsageError
from ghost_memory import memories
from ghost_memory.values import GLOBAL
from support.memory import PROJECT, Store


def test_a_memory_is_read_by_the_beginning_of_its_id_from_its_own_project(memory: Store) -> None:
    kept = memory.keep("the port is 8402")
    memory.save("of another project", project="other")
    assert memory.read(lambda c: memories.get(c, kept.id[:8])) == kept
    assert memory.read(lambda c: memories.get(c, kept.id, PROJECT)) == kept
    for named, code in (("other", "memory.project"), ("none", "project.unknown")):
        with pytest.raises(NotFoundError) as caught:
            memory.read(lambda c, named=named: memories.get(c, kept.id, named))
        assert caught.value.code == code


def test_a_list_is_ordered_paged_and_counted(memory: Store) -> None:
    made = [memory.save(f"x{n} y{n}", importance=n / 10).id for n in range(5)]
    tie = memory.save("tie breaker", importance=0.4).id
    found, total = memory.read(lambda c: memories.listing(c, PROJECT, limit=2, offset=0))
    assert ([each.id for each in found], total) == ([tie, made[4]], 6)
    rest, _ = memory.read(lambda c: memories.listing(c, PROJECT, limit=100, offset=2))
    assert [each.id for each in rest] == [made[3], made[2], made[1], made[0]]
    assert memory.read(lambda c: memories.listing(c, PROJECT, offset=10**30))[0] == []
    assert len(memory.read(lambda c: memories.listing(c, PROJECT, offset=-5))[0]) == 6


def test_a_list_of_a_category_brings_the_shared_ones(memory: Store) -> None:
    memory.save("mine", category="gotcha")
    memory.save("of all", project=GLOBAL, category="gotcha")
    memory.save("other", project="other", category="gotcha")
    found, total = memory.read(lambda c: memories.listing(c, PROJECT, category="gotcha"))
    assert ({each.content for each in found}, total) == ({"mine", "of all"}, 2)
    with pytest.raises(UsageError):
        memory.read(lambda c: memories.listing(c, PROJECT, category="nonsense"))
