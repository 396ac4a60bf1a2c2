"""What an entry means to those who listen: the event's name, and its CloudEvents body.

The body says that something happened, and where its evidence is: ids, names, status, codes and
commitments. No payload, no secret, no reason that a hook or an upstream gave; of what an agent wrote,
method and host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ghost_addons.called import Called
from ghost_core.clock import rfc3339
from ghost_ledger.recorder import Receipt

MEDIA_TYPE = "application/cloudevents+json"
"""Structured mode (CloudEvents 1.0, HTTP binding §3.2)."""

_NAMES = {
    "session.spawn": "session.spawned",
    "session.seal": "session.sealed",
    "session.quarantined": "session.quarantined",
    "session.bypass": "session.bypass",
    "action.denied": "action.denied",
    "action.unknown": "action.unknown",
    "approval.asked": "approval.asked",
    "credential.issued": "credential.issued",
    "credential.revoked": "credential.revoked",
    "credential.rotated": "credential.rotated",
}
_FIELDS = (
    "action", "action_id", "approval", "code", "count", "credential", "ended", "error", "expires_at", "host",
    "http_status", "intent", "key_hash", "lived_seconds", "method", "params", "policy", "port",
    "response", "root", "session", "size", "stage", "status", "tool", "ttl_seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Notice:
    """One event; `body` is the same for every receiver and every attempt."""

    name: str
    id: str
    entry_hash: str
    body: bytes = field(repr=False)


def of(receipt: Receipt, called: Called) -> Notice | None:
    """Return what is told of a committed entry; None for entries that are no event."""
    entry: dict[str, Any] = json.loads(receipt.body)
    if entry["type"] == "action.intent":
        called.begin(entry)
    name = _name(entry)
    if name is None:
        return None
    entry.update(_call(entry, called))
    data: dict[str, object] = {each: entry[each] for each in _FIELDS if each in entry}
    data |= {
        "session_id": receipt.sid,
        "entry_id": entry["id"],
        "entry_hash": receipt.leaf_hash.hex(),
        "seq": receipt.seq,
    }
    document = {
        "specversion": "1.0",
        "id": entry["id"],
        "source": f"{entry['log']}/s/{receipt.sid}",
        "type": name,
        "subject": receipt.sid,
        "time": rfc3339(receipt.ts),
        "datacontenttype": "application/json",
        "data": data,
    }
    body = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    return Notice(name, str(entry["id"]), receipt.leaf_hash.hex(), body)


def _call(entry: dict[str, Any], called: Called) -> dict[str, object]:
    """Return which call an event is about: its id, and what its entry leaves to the intent."""
    match entry["type"]:
        case "action.denied":
            return {"action_id": entry["id"]}
        case "action.outcome":
            return {"action_id": entry["id"], **called.end(entry["id"])}
        case "action.unknown":
            action_id = entry.pop("action")  # an id here, and everywhere else a name
            return {"action_id": action_id, **called.end(action_id)}
        case "session.quarantined" if "action" in entry:
            return {"action_id": entry.pop("action")}
        case _:
            return {}


def _name(entry: Mapping[str, Any]) -> str | None:
    """Return the event of an entry; the sessions of the process itself are none."""
    match entry["type"]:
        case "action.outcome":
            return f"action.{entry['status']}"
        case "session.closed":
            return "session.expired" if entry["reason"] == "ttl" else None
        case "session.spawn" if entry.get("system"):
            return None
        case kind:
            return _NAMES.get(kind)
