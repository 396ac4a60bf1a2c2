from __future__ import annotations

import pytest

from ghost_core.errors import UsageError
from ghost_memory.bench import report
from ghost_memory.bench.report import Floor
from ghost_memory.bench.suites import Condition, Suite

SUITE = Suite("mine", 7, (Condition("default", {"ndcg_at_10": 0.9, "wins": 1.0}),), ("a note",))


def test_the_document_has_the_shape_of_the_contract() -> None:
    assert report.document([SUITE]) == {
        "schema": "ghost/bench/v1",
        "suites": [
            {
                "name": "mine",
                "n": 7,
                "conditions": [{"condition": "default", "ndcg_at_10": 0.9, "wins": 1.0}],
                "notes": ["a note"],
            }
        ],
    }


def test_the_table_names_every_figure_there_is() -> None:
    title, head, row, note = report.text([SUITE]).splitlines()
    assert title == "mine (7 questions)"
    assert head.split() == ["NDCG@10", "wins"]
    assert row.split() == ["default", "0.900", "1.000"]
    assert note.strip() == "a note"


def test_a_floor_names_suite_condition_figure_and_number() -> None:
    assert report.floor("own, test/default/wins=0.5") == Floor("own, test", "default", "wins", 0.5)


@pytest.mark.parametrize("said", ["", "a/b=1", "a/b/c", "a/b/c=x", "a/b/c/d=1"])
def test_what_is_no_floor_is_refused(said: str) -> None:
    with pytest.raises(UsageError, match="expected SUITE"):
        report.floor(said)


def test_only_what_lies_below_its_floor_is_reported() -> None:
    held, missed = (
        Floor("mine", "default", "wins", 1.0),
        Floor("mine", "default", "ndcg_at_10", 0.95),
    )
    assert report.below([SUITE], [held]) == []
    assert report.below([SUITE], [held, missed]) == [
        "mine/default/ndcg_at_10: expected at least 0.95, found 0.9"
    ]


def test_a_floor_under_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="names no figure") as caught:
        report.below([SUITE], [Floor("mine", "default", "speed", 1.0)])
    assert caught.value.hint == "mine/default"
