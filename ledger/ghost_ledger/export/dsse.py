"""The statement of a session out of its bundle, as one DSSE envelope; nothing is judged."""

from __future__ import annotations

import json
from typing import Any

from ghost_core.errors import GhostError, IntegrityError
from ghost_ledger import statement, tree
from ghost_ledger.bundle import Bundle
from ghost_ledger.entry import Entry, open_leaf, parse_envelope
from ghost_ledger.note import Vkey
from ghost_ledger.statement import Sealed

__all__ = ["envelope", "line"]


def envelope(bundle: Bundle) -> dict[str, Any] | None:
    """Return the envelope; None if the session is open, has no statement, or cannot be read as far."""
    try:
        return _envelope(bundle)
    except (GhostError, ValueError):
        return None


def line(made: dict[str, Any]) -> bytes:
    """Return the envelope as one line of JSON, with its newline."""
    return json.dumps(made, separators=(",", ":")).encode() + b"\n"


def _envelope(bundle: Bundle) -> dict[str, Any] | None:
    notes = bundle.entries
    if len(notes) <= 1:
        return None
    seal = _entry(notes[-1])
    signature = seal.fields.get("dsse")
    if seal.type != "session.seal" or not isinstance(signature, str):
        return None
    hashes = [tree.leaf_hash(note) for note in notes[:-1]]
    sealed = Sealed(_entry(notes[-2]), hashes[0], len(hashes), tree.root(hashes))
    return statement.envelope(_key(notes[0]), sealed, signature)


def _entry(note: bytes) -> Entry:
    return parse_envelope(open_leaf(note)[0])


def _key(spawn: bytes) -> Vkey:
    value = _entry(spawn).fields.get("vkey")
    if not isinstance(value, str):
        raise IntegrityError("entry 0: names no key", code="ledger.evidence")
    return Vkey.parse(value)
