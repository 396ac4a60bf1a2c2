from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghost_core.errors import UsageError
from ghost_memory.bench import conversations

LOCOMO = [
    {
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "noon",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a zebra in May"},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "My sister sails"},
            ],
        },
        "qa": [
            {"question": "when was the zebra adopted", "evidence": ["D1:1"], "category": 2},
            {"question": "who sails", "evidence": ["D1:2"], "category": 1},
            {"question": "adversarial", "evidence": ["D1:2"], "category": 5},
            {"question": "without evidence", "evidence": [], "category": 1},
        ],
    }
]
EVAL = [
    {
        "question_id": "q1",
        "question": "where does the zebra live",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": [
            [{"role": "user", "content": "I like tea"}, {"role": "assistant", "content": ""}],
            [
                {"role": "user", "content": "the zebra lives in a barn"},
                {"role": "assistant", "content": "a zebra, how nice"},
            ],
        ],
        "answer_session_ids": ["s2"],
    },
    {"question_id": "q2_abs"},
]


def test_questions_with_evidence_are_measured_by_turn(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text(json.dumps(LOCOMO))
    found = conversations.locomo(tmp_path / "l.json")
    assert (found.name, found.n) == ("locomo", 2)
    assert found.conditions[0].values["recall_at_1"] == 1.0


def test_turns_are_collapsed_to_sessions_and_abstentions_left_out(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(json.dumps(EVAL))
    found = conversations.longmemeval(tmp_path / "e.json")
    assert (found.name, found.n) == ("longmemeval", 1)
    assert found.conditions[0].values["mrr_at_10"] == 1.0


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"a": 1}, "is not of type 'array'"),
        ([], "x.json: \\[\\] should be non-empty"),
        ([{"conversation": {}}], "at '0': 'qa' is a required property"),
        ([{"conversation": {"session_1": [{"x": 1}]}, "qa": []}], "'dia_id' is a required"),
        ([{"conversation": {}, "qa": [{"question": "x"}]}], "no question with evidence"),
    ],
)
def test_what_is_no_locomo_is_refused(tmp_path: Path, document: object, said: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match=said):
        conversations.locomo(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"a": 1}, "expected a list of objects"),
        ([{"question_id": "x"}], "question 0: 'question' is a required"),
        ([{**EVAL[0], "haystack_session_ids": ["s1"]}], "q1: 1 ids, 2 sessions"),
        ([{"question_id": "q2_abs"}], "no question with evidence"),
    ],
)
def test_what_is_no_longmemeval_is_refused(tmp_path: Path, document: object, said: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match=said):
        conversations.longmemeval(tmp_path / "x.json")
