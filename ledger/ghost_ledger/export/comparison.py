"""Two sessions side by side: facts and actions, for `--against`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["compare"]

type Document = Mapping[str, Any]  # a JSON view: its values are whatever JSON allows

_FACTS = ("intent", "status", "reason", "ttl_seconds", "actions_executed", "reads", "policy_hash")


def compare(this: Document, other: Document) -> dict[str, Any]:
    """Return what differs: facts of both sessions, and their actions as lines in order."""
    facts = [_fact(name, this[name], other[name]) for name in _FACTS]
    facts.append(_fact("scopes", ", ".join(this["scopes"]), ", ".join(other["scopes"])))
    facts.append(_fact("verdict", this["verdict"]["result"], other["verdict"]["result"]))
    actions_this = [_line(action) for action in this["actions"]]
    actions_other = [_line(action) for action in other["actions"]]
    same = actions_this == actions_other and all(fact["this"] == fact["other"] for fact in facts)
    return {
        "session_id": other["session_id"],
        "verified": other["verified"],
        "same": same,
        "facts": facts,
        "actions_this": actions_this,
        "actions_other": actions_other,
    }


def _fact(name: str, this: object, other: object) -> dict[str, str | None]:
    return {"name": name, "this": _text(this), "other": _text(other)}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _line(action: Document) -> str:
    target = f"{action['method']} {action['host']}"
    named = target if action["tool"] == action["host"] else f"{action['tool']}:{action['action']}"
    answer = f" {action['http_status']}" if action["http_status"] else ""
    return f"{named}: {action['status']}{answer}"
