"""What an entry means to those who listen, as a CloudEvents 1.0 document.

It says that something happened, and where its evidence is: ids, names, status, codes and commitments. No
payload, no secret, no reason that a hook or an upstream gave; of what an agent wrote, method and host.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from ghost_core.clock import rfc3339
from ghost_ledger.export.actions import Signed

__all__ = ["CALL_NAMES", "Calls", "document", "events"]

CALL_NAMES = ("tool", "action", "method", "host")
"""What an outcome leaves to its intent."""
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


class Calls(Protocol):
    """Which call an outcome belongs to: its entry points to the intent and does not repeat what that said."""

    def begin(self, entry: Mapping[str, Any]) -> None:
        """Remember the call of an intent."""

    def end(self, action_id: str) -> dict[str, object]:
        """Return the `CALL_NAMES` of a call that is over, as far as they are known."""


def document(body: bytes, *, leaf_hash: bytes, ts: int, calls: Calls) -> dict[str, Any] | None:
    """Return the event of an entry's body; None for entries that are none."""
    entry: dict[str, Any] = json.loads(body)
    if entry["type"] == "action.intent":
        calls.begin(entry)
    name = _name(entry)
    if name is None:
        return None
    entry.update(_call(entry, calls))
    data: dict[str, object] = {each: entry[each] for each in _FIELDS if each in entry}
    data |= {
        "session_id": entry["sid"],
        "entry_id": entry["id"],
        "entry_hash": leaf_hash.hex(),
        "seq": entry["seq"],
    }
    return {
        "specversion": "1.0",
        "id": entry["id"],
        "source": f"{entry['log']}/s/{entry['sid']}",
        "type": name,
        "subject": entry["sid"],
        "time": rfc3339(ts),
        "datacontenttype": "application/json",
        "data": data,
    }


def events(signed: Iterable[Signed]) -> Iterator[dict[str, Any]]:
    """Yield the events of a session's entries, in order; what cannot be read is none."""
    calls = _Known()
    for item in signed:
        if not item.problem:
            found = document(
                item.entry.body, leaf_hash=item.leaf_hash, ts=item.entry.ts, calls=calls
            )
            if found is not None:
                yield found


class _Known:
    """The calls of one session."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, object]] = {}

    def begin(self, entry: Mapping[str, Any]) -> None:
        self._open[entry["id"]] = {name: entry[name] for name in CALL_NAMES}

    def end(self, action_id: str) -> dict[str, object]:
        return self._open.pop(action_id, {})


def _call(entry: dict[str, Any], calls: Calls) -> dict[str, object]:
    """Return which call an event is about: its id, and what its entry leaves to the intent."""
    match entry["type"]:
        case "action.denied":
            return {"action_id": entry["id"]}
        case "action.outcome":
            return {"action_id": entry["id"], **calls.end(entry["id"])}
        case "action.unknown":
            action_id = entry.pop("action")  # an id here, and everywhere else a name
            return {"action_id": action_id, **calls.end(action_id)}
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
