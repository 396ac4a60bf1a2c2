"""The residue of a session: its entries, root and seal byte for byte, as a JSON document."""

from __future__ import annotations

from typing import Any

from ghost_core.errors import GhostError, NotFoundError
from ghost_ledger.entry import parse_envelope
from ghost_ledger.export.message import readable
from ghost_ledger.export.source import Source
from ghost_ledger.export.values import sha256, signature
from ghost_ledger.note import split
from ghost_ledger.reader import Ledger
from ghost_ledger.stored import StoredEntry

__all__ = ["SCHEMA", "all_residue", "session_residue"]

SCHEMA = "ghost/residue/v1"


def session_residue(ledger: Ledger, sid: str) -> dict[str, Any]:
    """Return what is stored of one session; nothing is judged.

    Raises:
        NotFoundError: codes `session.unknown`, `ledger.pruned`.
    """
    stored = ledger.entries(sid)
    if not stored:
        raise NotFoundError(
            f"session {sid[:64]}: is not in this ledger",
            code="session.unknown",
            hint="ghost session list",
        )
    return {"schema": SCHEMA, **_session(ledger, sid, stored)}


def all_residue(ledger: Ledger) -> dict[str, Any]:
    """Return what is stored of all sessions, oldest first; those that were pruned are counted."""
    source = Source(ledger)
    sessions = [_session(ledger, sid, ledger.entries(sid)) for sid in source.sessions()]
    return {"schema": SCHEMA, "sessions": sessions, "pruned": source.count().pruned.view()}


def _session(ledger: Ledger, sid: str, stored: list[StoredEntry]) -> dict[str, Any]:
    notes = _notes(ledger, sid, len(stored))
    seal = _seal(stored)
    return {
        "session_id": sid,
        "entries": [_entry(item, note) for item, note in zip(stored, notes, strict=True)],
        "root_hash": seal.get("root") and f"sha256_root_{seal['root']}",
        "root_signature": _root_signature(seal.get("note")),
        "seal": seal.get("note"),
    }


def _notes(ledger: Ledger, sid: str, count: int) -> list[str | None]:
    """Return the complete notes; none can be rebuilt if the first entry is malformed."""
    try:
        return [readable(note)[0] for note in ledger.notes(sid)]
    except GhostError:
        return [None] * count


def _entry(item: StoredEntry, note: str | None) -> dict[str, Any]:
    return {
        "index": item.idx,
        "seq": item.seq,
        "type": item.type,
        "id": item.id,
        "entry_hash": sha256(item.leaf_hash),
        "signature": signature(item.sig),
        "body": readable(item.body)[0],
        "note": note,
    }


def _seal(stored: list[StoredEntry]) -> dict[str, Any]:
    for item in stored:
        if item.type == "session.seal":
            try:
                return dict(parse_envelope(item.body).fields)
            except GhostError:
                return {}
    return {}


def _root_signature(note: object) -> str | None:
    if not isinstance(note, str):
        return None
    try:
        return "ed25519_root_sig_" + split(note.encode())[1][0].signature.hex()
    except GhostError:
        return None
