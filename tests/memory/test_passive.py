from __future__ import annotations

from itertools import pairwise

from ghost_memory import links, passive, ranking
from ghost_memory.ages import days_between
from ghost_memory.values import GLOBAL, Memory
from support.memory import Store

DAY = 86_400


def top(memory: Store, limit: int = 10) -> list[Memory]:
    now = memory.journal.now()
    return memory.read(lambda c: passive.top(c, "app", limit=limit, now=now))


def test_importance_and_age_decide_and_globals_stay_out(memory: Store) -> None:
    memory.save("an old decision", category="decision", importance=0.9)
    memory.save("an old fact", importance=0.5)
    memory.clock.pass_seconds(60 * DAY)
    memory.save("a new decision", category="decision", importance=0.6)
    memory.save("for everybody", GLOBAL, importance=1.0)
    assert [each.content for each in top(memory)] == [
        "a new decision",
        "an old fact",
        "an old decision",
    ]


def test_the_order_of_the_database_is_that_of_the_formula(memory: Store) -> None:
    for number, category in enumerate(
        ("gotcha", "pattern", "fact", "decision", "architecture") * 4
    ):
        memory.save(f"row {number} {number * 7919}", category=category, importance=(number % 7) / 7)
        memory.clock.pass_seconds(13 * DAY)
    now = memory.journal.now()
    found = top(memory, limit=50)
    scores = [
        each.importance
        * ranking.decay(each.category, days_between(each.created_at, now), pinned=each.pinned)
        for each in found
    ]
    assert len(found) == 20
    assert all(one >= two - 1e-9 for one, two in pairwise(scores))


def test_a_near_duplicate_makes_room_for_another_row(memory: Store) -> None:
    one = memory.save("the port is 8402", importance=0.9).id
    two = memory.save("8402 is what we listen on", importance=0.8).id
    other = memory.save("tests run in parallel", importance=0.3).id
    memory.write(lambda w: links.link(w, one, two, "related", strength=0.95, source="auto"))
    assert [each.id for each in top(memory, limit=2)] == [one, other]
    assert [each.id for each in top(memory, limit=3)] == [one, two, other]
