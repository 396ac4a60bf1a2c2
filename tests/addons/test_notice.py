from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from ghost_addons import notice
from ghost_ledger.canonical import Value
from ghost_ledger.recorder import Receipt

SID = "gh_" + "1" * 32
LEAF = bytes(range(32))


def receipt(kind: str, fields: Mapping[str, Value] | None = None) -> Receipt:
    entry = {"v": 1, "type": kind, "log": "ghost.local/x", "sid": SID, "seq": 3, "id": "act_1"}
    body = json.dumps({**entry, **(fields or {})}).encode()
    return Receipt(7, SID, 3, LEAF, body, b"", 1_700_000_000_000_000)


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
        ("action.unknown", {}, "action.unknown"),
        ("approval.asked", {}, "approval.asked"),
        ("credential.issued", {}, "credential.issued"),
        ("credential.revoked", {}, "credential.revoked"),
        ("credential.rotated", {}, "credential.rotated"),
    ],
)
def test_an_entry_is_the_event_of_its_name(
    kind: str, fields: Mapping[str, Value], name: str
) -> None:
    found = notice.of(receipt(kind, fields))
    assert found is not None
    assert found.name == json.loads(found.body)["type"] == name


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("action.intent", {}),
        ("session.closed", {"reason": "evaporate"}),
        ("session.spawn", {"system": True}),
        ("webhook.delivered", {}),
        ("log.init", {}),
    ],
)
def test_what_nobody_can_ask_for_is_no_event(kind: str, fields: Mapping[str, Value]) -> None:
    assert notice.of(receipt(kind, fields)) is None


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
    found = notice.of(receipt("action.denied", entered))
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
            "entry_hash": LEAF.hex(),
            "seq": 3,
            **{name: entered[name] for name in list(entered)[:7]},
        },
    }
