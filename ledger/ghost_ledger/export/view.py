"""The view of a session: a plain document with the field names that scripts rely on.

A view is not evidence. It is computed anew from signed entries each time, together with its verdict.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from typing import Any, Literal

from ghost_core.errors import GhostError
from ghost_core.paths import Home
from ghost_ledger.checkpoint import decode_proof, parse_checkpoint
from ghost_ledger.export import actions, comparison
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.events import describe
from ghost_ledger.export.record import Record, gather
from ghost_ledger.export.source import Source
from ghost_ledger.export.stock import EXCERPT_BYTES
from ghost_ledger.export.values import fingerprint, instant, sha256, signature
from ghost_ledger.export.views import SCHEMA
from ghost_ledger.note import Vkey, split
from ghost_ledger.reader import Ledger

__all__ = ["Parts", "all_view", "session_view", "view_exit_code"]

type Parts = Literal["none", "excerpt", "full"]
type _Fields = Mapping[str, Any]  # fields of an entry: any value of GJ1

_EXIT = {"valid": 0, "invalid": 7, "incomplete": 8}


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
    view = _view(gather(source, home, sid, key=key), disclose=disclose, parts=parts)
    if against is not None:
        other = _view(gather(source, home, against, key=None), disclose=False, parts="none")
        view["comparison"] = comparison.compare(view, other)
    return view


def all_view(
    ledger: Ledger,
    home: Home,
    *,
    key: str | None = None,
    disclose: bool = False,
    parts: Parts = "none",
) -> dict[str, Any]:
    """Return all sessions but the recorder's own, oldest first; verified only if each one is.

    The recorder's own are not shown, but a broken one breaks the history: refusals without a session
    stand there, and so would a session that was made to look like one. Where there is no other session,
    those in which memory was changed are the history; an empty one is not verified: no evidence is never
    a pass. Raises like `session_view`.
    """
    source = Source(ledger)
    records = [gather(source, home, sid, key=key) for sid in source.sessions()]
    views = [_view(record, disclose=disclose, parts=parts) for record in records]
    count = source.count()
    # The recorder that runs has not sealed its own session yet, so only what is broken counts.
    own = [gather(source, home, sid, key=None) for sid in source.recorders()]
    hidden = [record.report.exit_code for record in own]
    kept = [record.report.exit_code for record in own if _memory(record)]
    codes = [view["verdict"]["exit_code"] for view in views] or [min(kept, default=8)]
    code = 7 if not count.whole or 7 in codes or 7 in hidden else max(codes)
    return {
        "schema": SCHEMA,
        "sessions": views,
        "verified": code == 0,
        "exit_code": code,
        "log": {"entries": count.entries, "places": count.places, "size": count.head},
        "recorder": {
            "sessions": len(own),
            "verified": hidden.count(0),
            "memory_changes": sum(map(_memory, own)),
        },
    }


def view_exit_code(view: Mapping[str, Any]) -> int:
    """Return 0 verified, 7 broken, 8 unsealed or otherwise incomplete."""
    code = view["exit_code"] if "sessions" in view else view["verdict"]["exit_code"]
    return int(code)


def _memory(record: Record) -> int:
    """Count the changes of memory that a session signed."""
    return sum(item.type == "memory.changed" for item in record.signed)


def _view(record: Record, *, disclose: bool, parts: Parts) -> dict[str, Any]:
    spawn, closed, seal = _ends(record)
    found = actions.actions(record.signed, record.lost)
    for action in found:
        _add_payloads(action, record, disclose=disclose, parts=parts)
    counted = actions.counts(found)
    verdict = _verdict(record)
    sealed = record.bundle.seal is not None
    view = {
        "schema": SCHEMA,
        "session_id": record.sid,
        "intent": _intent(record),
        "spawned_at": instant(record.signed[0].entry.ts) if record.signed else None,
        "evaporated_at": instant(record.signed[-1].entry.ts) if sealed else None,
        "actions": found,
        "root_signature": _root_signature(record),
        "verified": verdict["result"] == "valid",
        "verdict": verdict,
        "status": "sealed" if sealed else "abandoned" if record.abandoned else "open",
        "reason": closed.get("reason") or record.abandoned,
        "intent_state": _intent_state(record),
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
        "ephemeral_key": _public(spawn.get("vkey")),
        "wire_key": _prefixed("ed25519_public_", spawn.get("wire_key")),
        "parent_session_id": spawn.get("parent"),
        "recorder": spawn.get("recorder"),
        "policy_hash": sha256(spawn.get("policy")),
        "log": _log(record, spawn),
        "events": _events(record),
        "columns": [item.view() for item in record.columns],
        "verify": _how(record),
        "comparison": None,
    }
    if disclose:
        view["disclosures"] = record.stock.disclosures(0)
    return view


def _ends(record: Record) -> tuple[_Fields, _Fields, _Fields]:
    """Return the fields of spawn, closed and seal; empty where there is no such entry."""
    found = {item.type: item.entry.fields for item in record.signed}
    names = ("session.spawn", "session.closed", "session.seal")
    spawn, closed, seal = (found.get(name, {}) for name in names)
    return spawn, closed, seal


def _verdict(record: Record) -> dict[str, Any]:
    report = record.report
    axes = {axis.name: {"state": axis.state, "detail": axis.detail} for axis in report.axes}
    return {"result": report.verdict, "exit_code": report.exit_code, "axes": axes}


def _intent(record: Record) -> str | None:
    """Return the text that the spawn entry commits to; the column of the database is not asked."""
    kept = record.stock.find(0, "intent")
    return kept.data.decode("utf-8", "replace") if kept and kept.state == "stored" else None


def _intent_state(record: Record) -> str:
    kept = record.stock.find(0, "intent")
    return kept.state if kept else "absent"


def _root_signature(record: Record) -> str | None:
    if record.bundle.seal is None:
        return None
    try:
        lines = split(record.bundle.seal)[1]
    except GhostError:
        return None
    return "ed25519_root_sig_" + lines[0].signature.hex()


def _public(vkey: object) -> str | None:
    try:
        return "ed25519_public_" + Vkey.parse(str(vkey)).public.hex()
    except GhostError:
        return None


def _prefixed(prefix: str, value: object) -> str | None:
    return f"{prefix}{value}" if isinstance(value, str) else None


def _log(record: Record, spawn: _Fields) -> dict[str, Any]:
    bundle = record.bundle
    head = None
    if bundle.head is not None:
        head = parse_checkpoint(split(bundle.head)[0])
    return {
        "origin": record.signed[0].entry.log if record.signed else None,
        "vkey": spawn.get("log_vkey"),
        "size": head.size if head else None,
        "root_hash": sha256(head.root) if head else None,
        "spawn_index": _place(bundle.spawn_proof),
        "seal_index": _place(bundle.seal_proof),
    }


def _place(proof: str | None) -> int | None:
    return None if proof is None else decode_proof(proof).index


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


def _how(record: Record) -> dict[str, Any]:
    """Return how anyone can check the session, with the key that this verdict rests on."""
    key, sid = record.pin.key, record.sid
    shown = shlex.quote(key) if key else "KEY"
    return {
        "commands": [
            f"ghost bundle {sid} -o {sid}.ghost",
            f"ghost verify {sid}.ghost --key {shown}",
        ],
        "key": key,
        "fingerprint": _fingerprint(key),
        "source": record.pin.source,
    }


def _fingerprint(key: str | None) -> str | None:
    """Return the SHA-256 of the public key; a key in another form has none."""
    try:
        public = Vkey.parse(key or "").public
    except GhostError:
        return None
    return fingerprint(hashlib.sha256(public).digest())


def _add_payloads(action: dict[str, Any], record: Record, *, disclose: bool, parts: Parts) -> None:
    first, last = action["seq"], action["last_seq"]
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
