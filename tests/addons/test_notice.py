from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from ghost_addons import notice
from ghost_addons.called import Called
from ghost_ledger.canonical import Value
from ghost_ledger.recorder import Receipt

SID = "gh_" + "1" * 32
LEAF = bytes(range(32))


def receipt(kind: str, fields: Mapping[str, Value] | None = None) -> Receipt:
    entry = {"v": 1, "type": kind, "log": "ghost.local/x", "sid": SID, "seq": 3, "id": "act_1"}
    body = json.dumps({**entry, **(fields or {})}).encode()
    return Receipt(7, SID, 3, LEAF, body, b"", 1_700_000_000_000_000)


class Known(Called):
    """Calls that are known without a ledger."""

    def __init__(self, **names: str) -> None:
        self._names = names
        self._open = {}

    def _entered(self, action_id: str) -> dict[str, object]:
        return {**self._names} if action_id in ("act_1", "act_2") else {}


CALL = {"tool": "shop", "action": "buy", "method": "POST", "host": "api.shop.example"}


def told(entered: Receipt) -> notice.Notice | None:
    return notice.of(entered, Known(**CALL))


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        ("session.spawn", {}, "session.spawned"),
        ("session.closed", {"reason": "ttl"}, "session.expired"),
        ("session.seal", {}, "session.sealed"),
        ("session.quarantined", {}, "session.quarantined"),
        ("session.bypass", {}, "session.bypass"),
        ("action.outcome", {"status": "executed"}, "action.executed"),
        ("action.outcome", {"status": "failed"}, "action.failed"),
        ("action.denied", {}, "action.denied"),
        ("action.unknown", {"action": "act_2"}, "action.unknown"),
        ("approval.asked", {}, "approval.asked"),
        ("credential.issued", {}, "credential.issued"),
        ("credential.revoked", {}, "credential.revoked"),
        ("credential.rotated", {}, "credential.rotated"),
    ],
)
def test_an_entry_is_the_event_of_its_name(
    kind: str, fields: Mapping[str, Value], name: str
) -> None:
    found = told(receipt(kind, fields))
    assert found is not None
    assert found.name == json.loads(found.body)["type"] == name


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("action.intent", CALL),
        ("session.closed", {"reason": "evaporate"}),
        ("session.spawn", {"system": True}),
        ("webhook.delivered", {}),
        ("log.init", {}),
    ],
)
def test_what_nobody_can_ask_for_is_no_event(kind: str, fields: Mapping[str, Value]) -> None:
    assert told(receipt(kind, fields)) is None


def test_the_body_is_a_cloud_event_with_names_codes_and_commitments_only() -> None:
    entered = {
        "tool": "shop",
        "action": "buy",
        "method": "POST",
        "host": "api.shop.example",
        "code": 403,
        "stage": "hook",
        "params": "ab" * 32,
        "rule": "amount <= 5000",
        "verdicts": [{"reason": "4111 is not allowed"}],
        "scopes": ["secret-project"],
    }
    found = told(receipt("action.denied", entered))
    assert found is not None
    document = json.loads(found.body)
    assert document == {
        "specversion": "1.0",
        "id": "act_1",
        "source": f"ghost.local/x/s/{SID}",
        "type": "action.denied",
        "subject": SID,
        "time": "2023-11-14T22:13:20Z",
        "datacontenttype": "application/json",
        "data": {
            "session_id": SID,
            "entry_id": "act_1",
            "action_id": "act_1",
            "entry_hash": LEAF.hex(),
            "seq": 3,
            **{name: entered[name] for name in list(entered)[:7]},
        },
    }


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("action.outcome", {"status": "executed", "intent": "ab"}),
        ("action.outcome", {"status": "failed", "error": "target.unresolved"}),
        ("action.unknown", {"intent": "ab", "action": "act_1", "session": SID}),
    ],
)
def test_an_outcome_names_the_call_of_its_intent(kind: str, fields: Mapping[str, Value]) -> None:
    found = told(receipt(kind, fields))
    assert found is not None
    data = json.loads(found.body)["data"]
    assert {name: data[name] for name in CALL} == CALL
    assert data["action_id"] == "act_1"


def test_a_quarantine_has_the_id_of_the_call_and_no_name_in_its_place() -> None:
    found = told(receipt("session.quarantined", {"by": "hook:x", "reason": "", "action": "act_9"}))
    assert found is not None
    data = json.loads(found.body)["data"]
    assert data["action_id"] == "act_9"
    assert "action" not in data


def test_an_intent_is_remembered_until_its_outcome() -> None:
    called = Known(**{**CALL, "tool": "from the ledger"})
    assert notice.of(receipt("action.intent", CALL), called) is None
    for tool in ("shop", "from the ledger"):
        found = notice.of(receipt("action.outcome", {"status": "executed"}), called)
        assert found is not None
        assert json.loads(found.body)["data"]["tool"] == tool
