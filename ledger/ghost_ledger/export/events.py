"""Entries that are no actions, in one line of plain words each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["describe"]

type Fields = Mapping[str, Any]  # fields of an entry, checked against its type before

_WORDS: Final = {
    "session.spawn": "Session spawned",
    "session.closed": "Session closed",
    "session.seal": "Session sealed",
    "session.abandoned": "Session abandoned",
    "session.quarantined": "Session put in quarantine",
    "session.bypass": "A connection went around the proxy",
    "credential.issued": "Credential issued",
    "credential.revoked": "Credential revoked",
    "credential.rotated": "Credential rotated",
    "credential.probed": "Revoked credential tried once",
    "approval.asked": "Approval asked",
    "approval.given": "Approval given",
    "approval.refused": "Approval refused",
    "approval.expired": "Approval not given in time",
    "payload.erased": "Payload erased",
    "recorder.gap": "The recorder lost entries",
    "webhook.delivered": "A receiver was told",
    "webhook.failed": "A receiver could not be told",
    "memory.changed": "Memory changed",
    "log.init": "Log opened",
}


def _spawn(fields: Fields) -> str:
    scopes = len(fields.get("scopes", ()))
    return f"{scopes} scope{'' if scopes == 1 else 's'}, {fields.get('ttl_seconds')} s to live"


def _closed(fields: Fields) -> str:
    return f"{fields.get('reason')}, lived {fields.get('lived_seconds')} s"


def _seal(fields: Fields) -> str:
    return f"{fields.get('size')} entries, root {str(fields.get('root'))[:16]}…"


def _credential(fields: Fields) -> str:
    return f"{fields.get('credential')}, {fields.get('reason') or fields.get('result')}"


def _quarantined(fields: Fields) -> str:
    return f"{fields.get('by')}, {fields.get('reason')}"


def _changed(fields: Fields) -> str:
    where = fields.get("project")
    parts = [f"{fields.get('change')} {fields.get('memory')}", where and f"in {where}"]
    parts += [fields.get(name) for name in ("by", "host", "reason")]
    return ", ".join(str(each) for each in parts if each)


def _any(fields: Fields) -> str:
    simple = [str(value) for value in fields.values() if isinstance(value, str | int)]
    return ", ".join(text for text in simple if len(text) <= 80)


_DETAILS: Final[Mapping[str, Callable[[Fields], str]]] = {
    "session.spawn": _spawn,
    "session.closed": _closed,
    "session.seal": _seal,
    "session.quarantined": _quarantined,
    "credential.issued": _credential,
    "credential.revoked": _credential,
    "credential.rotated": _credential,
    "credential.probed": _credential,
    "memory.changed": _changed,
}


def describe(type_: str, fields: Fields) -> tuple[str, str]:
    """Return what happened and the detail worth a line; an unknown type is called by its name."""
    return _WORDS.get(type_, type_), _DETAILS.get(type_, _any)(fields)
