from __future__ import annotations

from decimal import Decimal

from ghost_core.settings_models import SearchSettings
from ghost_memory import candidates
from ghost_memory.asking import Query
from ghost_memory.candidates import Ask, Legs
from ghost_memory.values import GLOBAL
from support.memory import Store

NOW = "2026-09-01T12:00:00.000000Z"


def ask(text: str = "", **settings: object) -> Ask:
    return Ask(Query(text, "app"), SearchSettings(**settings), NOW)  # type: ignore[arg-type]


def mix(memory: Store, asked: Ask, legs: Legs) -> dict[str, float]:
    def work(connection):
        known = candidates.rows(connection, asked, {*legs.text, *legs.sense})
        return candidates.mixed(connection, asked, legs, known)

    return memory.read(work)


def test_importance_tells_apart_what_is_equally_near(memory: Store) -> None:
    less = memory.save("zebra red", importance=0.1).id
    more = memory.save("zebra green", importance=0.9).id
    found = mix(memory, ask("zebra"), Legs({less: 2.0, more: 2.0}, {}, 0.3))
    assert round(found[more] - found[less], 6) == round(0.8 * candidates.IMPORTANCE, 6)


def test_words_count_in_full_only_with_half_of_what_was_asked(memory: Store) -> None:
    said = memory.save("zebra crossing", importance=0.0).id
    near = memory.save("striped animal", importance=0.0).id
    legs = Legs({said: 2.0}, {near: 0.9, said: 0.1}, 0.3)
    full = mix(memory, ask("zebra crossing"), legs)
    assert {each: round(score, 3) for each, score in full.items()} == {said: 0.7, near: 0.3}
    quarter = mix(memory, ask("zebra alpha beta gamma"), legs)
    assert {each: round(score, 3) for each, score in quarter.items()} == {said: 0.35, near: 0.65}


def test_rows_of_elsewhere_are_not_candidates(memory: Store) -> None:
    mine, shared = memory.save("zebra").id, memory.save("zebra", GLOBAL).id
    other = memory.save("zebra", "other").id
    found = memory.read(lambda c: candidates.rows(c, ask(), {mine, shared, other}))
    assert set(found) == {mine, shared}
    legs = Legs({other: 1.0}, {other: 0.9}, 0.3)
    assert mix(memory, ask("zebra", fusion="rrf"), legs) == {}
    assert mix(memory, ask("zebra"), legs) == {}


def test_a_configured_weight_goes_before_that_of_the_embedder() -> None:
    class Leg:
        weight = 0.6

        def near(self, text, *, projects, limit):
            raise AssertionError

    assert candidates._weight(SearchSettings(), Leg()) == 0.6
    assert candidates._weight(SearchSettings(vector_weight=Decimal("0.2")), Leg()) == 0.2
