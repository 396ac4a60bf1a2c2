"""The view of a session: a plain document with the field names that scripts rely on.

A view is not evidence. It is computed anew from signed entries each time, together with its verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ghost_core.paths import Home
from ghost_ledger.export import actions, comparison, evidence
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.events import describe
from ghost_ledger.export.record import Record, gather
from ghost_ledger.export.source import Source
from ghost_ledger.export.stock import EXCERPT_BYTES
from ghost_ledger.export.values import instant, sha256, signature
from ghost_ledger.export.views import SCHEMA
from ghost_ledger.reader import Ledger

__all__ = ["Parts", "session_view", "view", "view_exit_code"]

type Parts = Literal["none", "excerpt", "full"]
type _Fields = Mapping[str, Any]  # fields of an entry: any value of GJ1


def session_view(
    ledger: Ledger,
    home: Home,
    sid: str,
    *,
    key: str | None = None,
    disclose: bool = False,
    parts: Parts = "none",
    against: str | None = None,
) -> dict[str, Any]:
    """Return the view of one session, verified under `key` or the log key of the home.

    `disclose` adds salts and payloads, `parts` requests and replies for a page (of bodies 4 KiB as
    `excerpt`), `against` a comparison with another session.

    Raises:
        NotFoundError: code `session.unknown`.
        IntegrityError: code `ledger.entries`, a known session without any entry.
    """
    source = Source(ledger)
    shown = view(gather(source, home, sid, key=key), disclose=disclose, parts=parts)
    if against is not None:
        other = view(gather(source, home, against, key=None), disclose=False, parts="none")
        shown["comparison"] = comparison.compare(shown, other)
    return shown


def view_exit_code(found: Mapping[str, Any]) -> int:
    """Return 0 verified, 7 broken, 8 unsealed or otherwise incomplete."""
    code = found["exit_code"] if "sessions" in found else found["verdict"]["exit_code"]
    return int(code)


def view(record: Record, *, disclose: bool, parts: Parts) -> dict[str, Any]:
    """Return the view of what was gathered on a session; see `session_view`."""
    spawn, closed, seal = _ends(record)
    found = actions.actions(record.signed, record.lost)
    for action in found:
        _add_payloads(action, record, disclose=disclose, parts=parts)
    counted = actions.counts(found)
    verdict = evidence.verdict(record)
    sealed = record.bundle.seal is not None
    shown = {
        "schema": SCHEMA,
        "session_id": record.sid,
        "intent": _intent(record),
        "spawned_at": instant(record.signed[0].entry.ts) if record.signed else None,
        "evaporated_at": instant(record.signed[-1].entry.ts) if sealed else None,
        "actions": found,
        "root_signature": evidence.root_signature(record),
        "verified": verdict["result"] == "valid",
        "verdict": verdict,
        "status": "sealed" if sealed else "abandoned" if record.abandoned else "open",
        "reason": closed.get("reason") or record.abandoned,
        "intent_state": _intent_state(record),
        "erased": record.stock.erased(0),
        "scopes": list(spawn.get("scopes", [])),
        "ttl_seconds": spawn.get("ttl_seconds"),
        "expires_at": instant(spawn.get("expires_at")),
        "lived_for_seconds": closed.get("lived_seconds"),
        "actions_executed": counted["executed"],
        "counts": counted,
        "reads": closed.get("reads"),
        "bytes_sent": closed.get("bytes_sent"),
        "bytes_received": closed.get("bytes_received"),
        "summary": list(closed.get("summary", [])),
        "root_hash": f"sha256_root_{seal['root']}" if "root" in seal else None,
        "entries": len(record.bundle.entries),
        "seal": record.bundle.seal.decode("utf-8") if record.bundle.seal else None,
        "verify_key": spawn.get("vkey"),
        "ephemeral_key": evidence.public(spawn.get("vkey")),
        "wire_key": _prefixed("ed25519_public_", spawn.get("wire_key")),
        "parent_session_id": spawn.get("parent"),
        "recorder": spawn.get("recorder"),
        "policy_hash": sha256(spawn.get("policy")),
        "log": evidence.log(record, spawn),
        "events": _events(record),
        "columns": [item.view() for item in record.columns],
        "verify": evidence.how(record),
        "comparison": None,
    }
    if disclose:
        shown["disclosures"] = record.stock.disclosures(0)
    return shown


def _ends(record: Record) -> tuple[_Fields, _Fields, _Fields]:
    """Return the fields of spawn, closed and seal; empty where there is no such entry."""
    found = {item.type: item.entry.fields for item in record.signed}
    names = ("session.spawn", "session.closed", "session.seal")
    spawn, closed, seal = (found.get(name, {}) for name in names)
    return spawn, closed, seal


def _intent(record: Record) -> str | None:
    """Return the text that the spawn entry commits to; the column of the database is not asked."""
    kept = record.stock.find(0, "intent")
    return kept.data.decode("utf-8", "replace") if kept and kept.state == "stored" else None


def _intent_state(record: Record) -> str:
    kept = record.stock.find(0, "intent")
    return kept.state if kept else "absent"


def _prefixed(prefix: str, value: object) -> str | None:
    return f"{prefix}{value}" if isinstance(value, str) else None


def _events(record: Record) -> list[dict[str, Any]]:
    found = [item for item in record.signed if item.type not in actions.ACTION_TYPES]
    return [_event(item) for item in found]


def _event(item: Signed) -> dict[str, Any]:
    words, detail = describe(item.entry.type, item.entry.fields)
    if item.problem:
        words, detail = f"{item.entry.type}, which cannot be read", item.problem
    return {
        "seq": item.entry.seq,
        "type": item.entry.type,
        "timestamp": instant(item.entry.ts),
        "timestamp_us": item.entry.ts,
        "words": words,
        "detail": detail,
        "entry_hash": sha256(item.leaf_hash),
        "signature": signature(item.signature),
    }


def _add_payloads(action: dict[str, Any], record: Record, *, disclose: bool, parts: Parts) -> None:
    first, last = action["seq"], action["last_seq"]
    action["erased"] = record.stock.erased(first, last)
    if disclose:
        action["disclosures"] = record.stock.disclosures(first, last)
    if parts == "none":
        return
    limit = EXCERPT_BYTES if parts == "excerpt" else None
    places = {
        "request": (first, "params"),
        "forwarded": (first, "forwarded"),
        "response": (last, "response"),
    }
    for name, (seq, field) in places.items():
        kept = record.stock.find(seq, field)
        action[name] = kept.part(limit=limit) if kept else None
