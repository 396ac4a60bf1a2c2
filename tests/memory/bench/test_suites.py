"""The figures that the public origin published, repeated; and those that ours must not fall below."""

from __future__ import annotations

import pytest

from ghost_memory.bench import suites
from ghost_memory.bench.fixed import FixedVectors
from ghost_memory.bench.fixtures import Dataset, Graded, Record
from ghost_memory.bench.suites import Suite

pytestmark = pytest.mark.slow

PUBLISHED = {
    "origin fts": (0.786, 0.964, 1.000, 0.964, 0.965),
    "origin vector": (0.786, 0.929, 0.964, 0.952, 0.946),
    "origin hybrid rrf": (0.857, 0.964, 1.000, 1.000, 0.989),
}
FIGURES = ("recall_at_1", "recall_at_5", "recall_at_10", "mrr_at_10", "ndcg_at_10")
SWEEP = {0.3: 0.992, 0.5: 0.989, 0.6: 0.989, 0.7: 0.989, 0.8: 0.982, 0.9: 0.955}
REORDERED = {
    "origin, no reordering": (0.083, 0.062, 0.929, 0.929),
    "origin, decay": (1.000, 0.521, 0.929, 0.000),
    "origin, demotion": (1.000, 0.854, 0.929, 0.929),
    "origin, decay and demotion": (1.000, 0.521, 0.929, 0.000),
    "origin, demotion, weak decay": (1.000, 0.896, 0.929, 0.286),
    "origin, demotion, tie-break": (1.000, 0.854, 0.929, 0.929),
}


def of(suite: Suite, condition: str) -> dict[str, float]:
    return dict(next(each.values for each in suite.conditions if each.name == condition))


@pytest.fixture(scope="module")
def parity() -> Suite:
    return suites.parity()


@pytest.mark.parametrize("condition", PUBLISHED)
def test_the_published_figures_are_repeated_exactly(parity: Suite, condition: str) -> None:
    found = of(parity, condition)
    assert tuple(round(found[name], 3) for name in FIGURES) == PUBLISHED[condition]


def test_our_default_is_at_the_ceiling_of_the_published_set(parity: Suite) -> None:
    found = of(parity, "default")
    assert found["ndcg_at_10"] >= 0.99
    assert round(found["recall_at_1"], 3) == 0.857
    assert found["recall_at_10"] == 1.0


def test_the_published_sweep_is_repeated_exactly() -> None:
    found = suites.sweep()
    assert {w: round(of(found, f"origin rrf {w}")["ndcg_at_10"], 3) for w in SWEEP} == SWEEP
    assert of(found, "convex 0.3")["ndcg_at_10"] >= 0.99


def test_the_effects_of_reordering_are_repeated_exactly() -> None:
    stale, (steady, fading) = suites.staleness(), tuple(suites.lookalikes())
    for name, published in REORDERED.items():
        found = [of(stale, name)["wins"], of(stale, name)["first"]]
        found += [of(each, name)["wins"] for each in (steady, fading)]
        assert found == pytest.approx(published, abs=0.0006), name


def test_ours_prefers_updates_without_falling_for_look_alikes() -> None:
    stale = of(suites.staleness(), "default")
    assert stale["wins"] == 1.0
    assert stale["first"] >= 0.85
    assert [round(of(each, "default")["wins"], 3) for each in suites.lookalikes()] == [0.929] * 2


def test_our_own_set_holds_its_floor_with_words_alone() -> None:
    found = suites.own()
    assert found.n == 90
    assert of(found, "default")["ndcg_at_10"] >= 0.85
    assert of(found, "default")["no_answer_said"] >= 0.8


def test_a_graded_set_is_asked_in_every_way_and_the_lead_is_given() -> None:
    data = Dataset(
        "mine",
        (Record("a", "zebra crossing"), Record("b", "striped animal")),
        (Graded("q1", "zebra crossing", {"a": 1.0}), Graded("q2", "horse", {"b": 1.0})),
    )
    vectors = FixedVectors.of(
        0.3,
        {"a": [1.0, 0.0], "b": [0.0, 1.0]},
        {"horse": [0.0, 1.0], "zebra crossing": [0.6, 0.8]},
        projects={"a": "bench", "b": "bench"},
    )
    found = suites.graded(data, lambda _: vectors)
    assert {each.name: each.values["mrr_at_10"] for each in found.conditions} == {
        "words": 0.5,
        "vector": 0.5,
        "rrf": 1.0,
        "default": 1.0,
    }
    assert [note.partition(":")[0] for note in found.notes] == [
        "default - words",
        "default - vector",
        "default - rrf",
    ]
    assert "+0.5000" in found.notes[0]
