"""The seed's tables, derived from entries: one function that writer and checker both use.

`changes` says what one entry does to `sessions`, `actions` and `credentials_log`; the writer folds
and applies the changes of a batch, the checker those of the whole log, and compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from ghost_core.errors import IntegrityError
from ghost_ledger import note
from ghost_ledger.canonical import Value
from ghost_ledger.store import time_text

__all__ = [
    "DERIVED",
    "KEYS",
    "Change",
    "Column",
    "Fact",
    "Key",
    "Kind",
    "changes",
    "derive",
    "fold",
]

type Column = str | int | bool | None
type Key = tuple[str, str | int]
"""A table and a primary key in it."""

KEYS: Final[Mapping[str, str]] = {
    "sessions": "session_id",
    "actions": "action_id",
    "credentials_log": "entry_idx",
}


_SPAWNED: Final = (
    "ttl_seconds", "expires_at", "boot", "deadline", "vkey", "wire_key", "token", "policy",
)  # fmt: skip


class Kind(Enum):
    """How a change meets the row that may be there."""

    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Fact:
    """A committed entry, as far as the derived tables need it.

    `key_hash` is the SHA-256 hex of the session's public key; `extra` what a draft added unsigned.
    """

    idx: int
    sid: str
    type: str
    id: str
    ts: int
    fields: Mapping[str, Value]
    signature: bytes
    leaf_hash: bytes
    key_hash: str
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Change:
    """What happens to one row; folding merges into `values`."""

    table: str
    key: str | int
    kind: Kind
    values: dict[str, Column]


def derive(facts: Iterable[Fact]) -> dict[Key, Change]:
    """Compute the derived rows of a whole log; values that no entry set are absent.

    Raises:
        IntegrityError: code `ledger.duplicate`, two entries claim the same row.
    """
    rows: dict[Key, Change] = {}
    for fact in facts:
        fold(rows, changes(fact))
    return {key: row for key, row in rows.items() if row.kind is not Kind.UPDATE}


def fold(rows: dict[Key, Change], new: Iterable[Change]) -> None:
    """Merge changes into those already there, so that each row is touched once.

    Raises:
        IntegrityError: code `ledger.duplicate`, a row is inserted twice.
    """
    for change in new:
        known = rows.get((change.table, change.key))
        if known is None:
            rows[change.table, change.key] = change
        elif change.kind is Kind.INSERT:
            raise IntegrityError(
                f"{change.table} {change.key}: a second entry claims this id",
                code="ledger.duplicate",
            )
        else:
            known.values.update(change.values)


def changes(fact: Fact) -> tuple[Change, ...]:
    """Return what one entry changes; most types change nothing."""
    find = DERIVED.get(fact.type)
    return () if find is None else find(fact)


def _spawned(fact: Fact) -> tuple[Change, ...]:
    fields = fact.fields
    scopes = [str(scope) for scope in _list(fields["scopes"])]
    intent = fact.extra.get("intent")
    values: dict[str, Column] = {
        "intent": intent if isinstance(intent, str) else None,
        "scope": ",".join(scope.replace(",", "%2C") for scope in scopes),
        "spawned_at": time_text(fact.ts),
        "scopes": json.dumps(scopes),
        "status": "live",
        "system": fields.get("system") is True,
        "quarantined": False,
        "parent": _plain(fields.get("parent")),
    }
    for name in _SPAWNED:
        values[name] = _plain(fields.get(name))
    session = Change("sessions", fact.sid, Kind.INSERT, values)
    return session, _session_key(fact, "spawn")


def _closed(fact: Fact) -> tuple[Change, ...]:
    return (_session(fact.sid, reason=_plain(fact.fields["reason"])),)


def _sealed(fact: Fact) -> tuple[Change, ...]:
    _, lines = note.split(str(fact.fields["note"]).encode())
    session = _session(
        fact.sid,
        status="sealed",
        evaporated_at=time_text(fact.ts),
        root_signature=lines[0].signature.hex(),
        root=_plain(fact.fields["root"]),
        size=_plain(fact.fields["size"]),
    )
    return session, _session_key(fact, "evaporate")


def _abandoned(fact: Fact) -> tuple[Change, ...]:
    names = ("root", "size", "reason")
    values = {name: _plain(fact.fields[name]) for name in names}
    return (_session(str(fact.fields["session"]), status="abandoned", **values),)


def _quarantined(fact: Fact) -> tuple[Change, ...]:
    return (_session(fact.sid, quarantined=True),)


def _intended(fact: Fact) -> tuple[Change, ...]:
    fields = fact.fields
    values: dict[str, Column] = {
        "session_id": fact.sid,
        "params_hash": _plain(fields.get("params")),
        "timestamp": time_text(fact.ts),
        "status": "pending",
        "intent_signature": fact.signature.hex(),
        "intent_idx": fact.idx,
        "count": 1,
        **_entry(fact),
    }
    for name in ("tool", "action", "method", "host", "credential", "operation"):
        values[name] = _plain(fields.get(name))
    return (Change("actions", fact.id, Kind.INSERT, values),)


def _answered(fact: Fact) -> tuple[Change, ...]:
    fields = fact.fields
    values: dict[str, Column] = {"response_hash": _plain(fields.get("response")), **_entry(fact)}
    for name in ("status", "http_status", "error", "latency_us", "sent", "received"):
        values[name] = _plain(fields.get(name))
    return (Change("actions", fact.id, Kind.UPDATE, values),)


def _denied(fact: Fact) -> tuple[Change, ...]:
    fields = fact.fields
    values: dict[str, Column] = {
        "session_id": fact.sid,
        "http_status": _plain(fields.get("code")),
        "timestamp": time_text(fact.ts),
        "status": "denied",
        "count": _plain(fields.get("count", 1)),
        **_entry(fact),
    }
    for name in ("tool", "action", "method", "host", "error", "rule"):
        values[name] = _plain(fields.get(name))
    if "params" in fields:  # else those of an intent that was refused later stay
        values["params_hash"] = _plain(fields["params"])
    return (Change("actions", fact.id, Kind.UPSERT, values),)


def _unknown(fact: Fact) -> tuple[Change, ...]:
    values: dict[str, Column] = {"status": "unknown", **_entry(fact)}
    return (Change("actions", str(fact.fields["action"]), Kind.UPDATE, values),)


def _credential(fact: Fact) -> tuple[Change, ...]:
    values: dict[str, Column] = {
        "session_id": fact.sid,
        "key_hash": _plain(fact.fields.get("key_hash")),
        "rotated_at": time_text(fact.ts),
        "reason": _plain(fact.fields["reason"]),
        "credential": _plain(fact.fields["credential"]),
        "event": fact.type,
    }
    return (Change("credentials_log", fact.idx, Kind.INSERT, values),)


def _session_key(fact: Fact, reason: str) -> Change:
    """Log the birth and the end of the session's own key, as the seed's table means it."""
    values: dict[str, Column] = {
        "session_id": fact.sid,
        "key_hash": fact.key_hash,
        "rotated_at": time_text(fact.ts),
        "reason": reason,
        "event": fact.type,
    }
    return Change("credentials_log", fact.idx, Kind.INSERT, values)


def _session(sid: str, **values: Column) -> Change:
    return Change("sessions", sid, Kind.UPDATE, values)


def _entry(fact: Fact) -> dict[str, Column]:
    return {
        "signature": fact.signature.hex(),
        "entry_hash": fact.leaf_hash.hex(),
        "entry_idx": fact.idx,
    }


def _plain(value: Value | None) -> Column:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _list(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]


DERIVED: Final = {
    "session.spawn": _spawned,
    "session.closed": _closed,
    "session.seal": _sealed,
    "session.abandoned": _abandoned,
    "session.quarantined": _quarantined,
    "action.intent": _intended,
    "action.outcome": _answered,
    "action.denied": _denied,
    "action.unknown": _unknown,
    "credential.issued": _credential,
    "credential.revoked": _credential,
    "credential.rotated": _credential,
}
