"""What an entry does to the derived tables."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.canonical import Value
from ghost_ledger.derivation import Change, Fact, Kind, changes, derive, fold

SID, ACTION = "gh_" + "1" * 32, "act_" + "2" * 32
INTENT: dict[str, Value] = {
    "tool": "t",
    "action": "a",
    "method": "POST",
    "host": "h",
    "params": "p",
}
OUTCOME: dict[str, Value] = {
    "status": "executed", "http_status": 200, "response": "r", "latency_us": 1, "sent": 2, "received": 3,
}  # fmt: skip
DENIED: dict[str, Value] = {
    "tool": "t", "action": "a", "method": "POST", "host": "h", "code": 403, "error": "e", "rule": "r",
}  # fmt: skip


def _fact(type_: str, fields: Mapping[str, Value], *, idx: int = 0, extra: str = "") -> Fact:
    return Fact(
        idx=idx, sid=SID, type=type_, id=ACTION, ts=1_000_000, fields=fields, signature=b"\x05",
        leaf_hash=b"\x06", key_hash="kh", extra={"intent": extra} if extra else {},
    )  # fmt: skip


def _action(*facts: Fact) -> Change:
    return derive(facts)["actions", ACTION]


def test_an_intent_is_a_pending_action():
    row = _action(_fact("action.intent", INTENT))
    assert row.values["status"] == "pending"
    assert row.values["params_hash"] == "p"


def test_an_outcome_answers_its_action_and_keeps_the_time_of_the_intent():
    asked = _fact("action.intent", INTENT)
    answered = Fact(
        idx=1, sid=SID, type="action.outcome", id=ACTION, ts=9_000_000, fields=OUTCOME,
        signature=b"\x07", leaf_hash=b"\x08", key_hash="kh",
    )  # fmt: skip
    values = _action(asked, answered).values
    assert values["status"] == "executed"
    assert values["timestamp"] == "1970-01-01T00:00:01.000000Z"
    assert (values["intent_signature"], values["signature"]) == ("05", "07")


def test_a_refusal_is_an_action_with_the_status_that_the_agent_saw():
    values = _action(_fact("action.denied", DENIED)).values
    assert (values["status"], values["http_status"], values["count"]) == ("denied", 403, 1)


def test_a_refusal_after_the_intent_ends_the_same_action():
    values = _action(_fact("action.intent", INTENT), _fact("action.denied", DENIED, idx=1)).values
    assert (values["status"], values["intent_idx"], values["entry_idx"]) == ("denied", 0, 1)
    assert values["params_hash"] == "p"


def test_an_unknown_answer_is_written_to_the_action_that_it_names():
    fields: dict[str, Value] = {"action": ACTION, "session": SID}
    unknown = _fact("action.unknown", fields, idx=1)
    assert _action(_fact("action.intent", INTENT), unknown).values["status"] == "unknown"


def test_two_intents_cannot_share_an_action_id():
    with pytest.raises(IntegrityError) as caught:
        derive([_fact("action.intent", INTENT), _fact("action.intent", INTENT, idx=1)])
    assert caught.value.code == "ledger.duplicate"


def test_commas_inside_a_scope_are_escaped_in_the_seed_column():
    fields: dict[str, Value] = {"scopes": ["GET,POST https://a", "t"], "ttl_seconds": 1}
    row = derive([_fact("session.spawn", fields, extra="deploy")])["sessions", SID]
    assert row.values["scope"] == "GET%2CPOST https://a,t"
    assert row.values["scopes"] == '["GET,POST https://a", "t"]'
    assert row.values["intent"] == "deploy"


def test_spawn_and_credential_entries_are_logged_with_the_reason_of_the_seed():
    spawned = _fact("session.spawn", {"scopes": []})
    rotated = _fact(
        "credential.rotated", {"credential": "c", "reason": "rotate", "key_hash": "k"}, idx=1
    )
    rows = derive([spawned, rotated])
    reasons = [rows["credentials_log", idx].values["reason"] for idx in (0, 1)]
    assert reasons == ["spawn", "rotate"]


def test_folding_touches_each_row_once():
    rows: dict[tuple[str, str | int], Change] = {}
    fold(rows, changes(_fact("action.intent", INTENT)))
    fold(rows, changes(_fact("action.outcome", OUTCOME, idx=1)))
    (row,) = rows.values()
    assert (row.kind, row.values["status"]) == (Kind.INSERT, "executed")


def test_an_answer_without_its_intent_derives_no_row():
    assert derive([_fact("action.outcome", OUTCOME)]) == {}


def test_other_entries_change_nothing():
    assert changes(_fact("run.event", {"event": "x"})) == ()
