"""Order of memories: decay, replacement, near-duplicates, and the mix of two legs."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory import ranking
from ghost_memory.dialect import SQLITE
from ghost_memory.limits import CATEGORIES

AGES = (-5.0, 0.0, 1.0, 14.9, 30.0, 45.0, 104.9, 105.0, 105.1, 169.9, 170.0, 170.1, 10_000.0)
NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
EDGES = st.lists(st.tuples(st.sampled_from("abcdefghz"), st.sampled_from("abcdefghz")), max_size=8)
SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.0, 50.0), max_size=6)


def test_sql_and_python_agree_on_the_whole_grid() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE m (category TEXT, pinned INTEGER, age REAL)")
        grid = [(c, p, a) for c in CATEGORIES for p in (0, 1) for a in AGES]
        connection.executemany("INSERT INTO m VALUES (?, ?, ?)", grid)
        found = connection.execute(
            f"SELECT category, pinned, age, {ranking.decay_sql(SQLITE._replace(age='age'))} FROM m"
        )
        for category, pinned, age, factor in found:
            assert factor == ranking.decay(category, age, pinned=bool(pinned)), (category, age)


@pytest.mark.parametrize(
    ("category", "age", "factor"),
    [
        ("fact", 10_000, 1.0),
        ("preference", 10_000, 1.0),
        ("convention", 10_000, 1.0),
        ("pattern", 45, 0.5),
        ("architecture", 105, 0.30),
        ("pattern", 104, 1 / (1 + 104 / 45)),
        ("gotcha", 30, 0.5),
        ("decision", 170, 0.15),
        ("dependency", 169, 1 / (1 + 169 / 30)),
        ("gotcha", -3, 1.0),
    ],
)
def test_decay_is_that_of_the_origin(category: str, age: float, factor: float) -> None:
    assert ranking.decay(category, age, pinned=False) == pytest.approx(factor)
    assert ranking.decay(category, age, pinned=True) == 1.0


def test_decay_of_a_search_is_a_tie_break_unless_told_otherwise() -> None:
    assert ranking.aged(2.0, 0.15, "off") == 2.0
    assert ranking.aged(2.0, 0.15, "full") == pytest.approx(0.3)
    assert ranking.aged(2.0, 0.0, "tie-break") == pytest.approx(2.0 * 0.98)
    assert ranking.aged(2.0, 1.0, "tie-break") == 2.0


def test_a_chain_of_replacements_is_in_order() -> None:
    star = [("v3", "v2"), ("v3", "v1"), ("v2", "v1")]
    assert ranking.demoted(["v1", "v2", "v3", "x"], star) == ["v3", "x", "v2", "v1"]


def test_what_is_replaced_sinks_only_below_what_is_there() -> None:
    assert ranking.demoted(["old", "x"], [("gone", "old")]) == ["old", "x"]
    assert ranking.demoted(["old", "new"], [("new", "old")]) == ["new", "old"]


def test_the_lower_of_two_twins_sinks_unless_it_is_pinned() -> None:
    assert ranking.without_twins(["a", "b", "c"], [("a", "b")], set()) == ["a", "c", "b"]
    assert ranking.without_twins(["a", "b", "c"], [("b", "a")], {"b"}) == ["b", "c", "a"]
    assert ranking.without_twins(["a", "b", "c"], [("a", "b")], {"a", "b"}) == ["a", "c", "b"]
    assert ranking.without_twins(["a", "b"], [("a", "z")], set()) == ["a", "b"]


@given(NAMES, EDGES)
def test_reordering_loses_and_adds_nothing(order: list[str], edges: list[tuple[str, str]]) -> None:
    assert sorted(ranking.demoted(order, edges)) == sorted(order)
    assert sorted(ranking.without_twins(order, edges, set(order[:2]))) == sorted(order)


@given(SCORES, SCORES, st.floats(0.0, 1.0))
def test_the_convex_mix_lies_between_0_and_1(
    words: dict[str, float], vectors: dict[str, float], weight: float
) -> None:
    mixed = ranking.convex(words, vectors, weight)
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in mixed.values())
    assert mixed.keys() <= words.keys() | vectors.keys()


def test_a_leg_that_is_missing_leaves_the_other_in_full() -> None:
    assert ranking.convex({"a": 4.0, "b": 1.0}, {}, 0.3) == {"a": 1.0, "b": 0.25}
    assert ranking.convex({}, {"a": 0.9, "b": 0.1}, 0.3) == {"a": 1.0, "b": 0.0}
    assert ranking.convex({}, {"a": 0.4}, 0.3) == {"a": 1.0}
    assert ranking.convex({}, {}, 0.3) == {}


def test_the_weight_is_that_of_the_vectors() -> None:
    mixed = ranking.convex({"a": 2.0, "b": 2.0}, {"b": 0.8, "c": 0.2}, 0.3)
    assert mixed == pytest.approx({"a": 0.7, "b": 1.0, "c": 0.0})


def test_reciprocal_ranks_are_those_of_the_origin() -> None:
    mixed = ranking.reciprocal([(["a", "b"], 0.3), (["b", "c"], 0.7)], 60)
    assert mixed == pytest.approx({"a": 0.3 / 61, "b": 0.3 / 62 + 0.7 / 61, "c": 0.7 / 62})
    assert ranking.reciprocal([(["a", "b"], 0.3), ([], 0.7)], 60) == {"a": 1 / 61, "b": 1 / 62}
