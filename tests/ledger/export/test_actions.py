from __future__ import annotations

from dataclasses import replace

from ghost_ledger.entry import open_leaf, parse_envelope
from ghost_ledger.export.actions import Signed, actions, counts
from ghost_ledger.tree import leaf_hash
from support.bundles import HASH, Log, Session, intent_fields, outcome_fields

DENIED = {
    "tool": "evil.example",
    "action": "POST",
    "method": "POST",
    "host": "evil.example",
    "code": 403,
    "error": "scope.none",
    "stage": "scope",
    "rule": "none",
    "verdicts": [],
}


def _signed(session: Session) -> list[Signed]:
    found = []
    for note in session.notes:
        body, line = open_leaf(note)
        found.append(Signed(parse_envelope(body), line.signature, leaf_hash(note)))
    return found


def test_an_intent_and_its_outcome_are_one_action() -> None:
    signed = _signed(Log().session().action())
    (found,) = actions(signed, {})
    assert found["status"] == "executed"
    assert found["signature"] == "ed25519_sig_" + signed[2].signature.hex()
    assert found["intent_signature"] == "ed25519_sig_" + signed[1].signature.hex()
    assert found["entry_hash"] == "sha256_" + signed[2].leaf_hash.hex()
    assert found["params_hash"] == "sha256_" + HASH


def test_a_lost_intent_says_why() -> None:
    session = Log().session()
    asked = session.add("action.intent", intent_fields())
    (found,) = actions(_signed(session), {asked: "crash"})
    assert (found["status"], found["error"], found["response_hash"]) == ("unknown", "crash", None)


def test_verdicts_of_before_and_after_are_in_order() -> None:
    before = {"by": "scope", "rule": "a", "verdict": "allow", "ms": 0}
    after = {"by": "hook", "rule": "b", "verdict": "flag", "ms": 2}
    session = Log().session()
    asked = session.add("action.intent", intent_fields(verdicts=[before]))
    session.add("action.outcome", outcome_fields(asked, verdicts=[after]))
    (found,) = actions(_signed(session), {})
    assert found["verdicts"] == [before, after]


def test_actions_are_in_the_order_of_their_first_entry() -> None:
    session = Log().session()
    asked = session.add("action.intent", intent_fields(), 1)
    session.add("action.denied", DENIED, 2)
    session.add("action.outcome", outcome_fields(asked), 1)
    assert [item["status"] for item in actions(_signed(session), {})] == ["executed", "denied"]


def test_the_message_of_a_denial_is_the_reason_that_denied() -> None:
    deny = {"by": "scope", "rule": "a", "verdict": "deny", "ms": 0, "reason": "not allowed"}
    session = Log().session()
    session.add("action.denied", DENIED | {"verdicts": [deny]})
    (found,) = actions(_signed(session), {})
    assert found["denial"]["message"] == "not allowed"
    assert found["denial"]["hint"].startswith("ghost spawn")


def test_a_coalesced_refusal_counts_as_often_as_it_came() -> None:
    session = Log().session().action()
    session.add("action.denied", DENIED | {"count": 3}, 2)
    found = counts(actions(_signed(session), {}))
    assert found == {"executed": 1, "denied": 3, "failed": 0, "unknown": 0}


def test_an_entry_that_cannot_be_read_is_no_action() -> None:
    signed = _signed(Log().session().action())
    unreadable = [replace(item, problem="unknown field") for item in signed]
    assert actions(unreadable, {}) == []
