"""A bundle as plain files for stock tools: notes, the log head, and proofs that stand alone."""

from __future__ import annotations

import re
from typing import Final

from ghost_core.errors import GhostError, IntegrityError
from ghost_ledger.bundle import Bundle, Disclosure
from ghost_ledger.entry import open_leaf, parse_envelope
from ghost_ledger.export import dsse

__all__ = ["plain_files"]

_SAFE: Final = re.compile(r"[a-z][a-z0-9_]{0,31}\Z")


def plain_files(bundle: Bundle) -> dict[str, bytes]:
    """Return file names and contents; no name comes from the bundle unless it is a plain word.

    Raises:
        IntegrityError: a disclosed field has a name that is no plain word (code `bundle.name`).
    """
    files = {_entry_name(seq, note): note for seq, note in enumerate(bundle.entries)}
    parts = {
        "seal.note": bundle.seal,
        "checkpoint": bundle.head,
        **{f"handover-{at}.note": note for at, note in enumerate(bundle.handovers)},
        "spawn.tlog-proof": bundle.spawn_proof and bundle.spawn_proof.encode(),
        "seal.tlog-proof": bundle.seal_proof and bundle.seal_proof.encode(),
    }
    files |= {name: part for name, part in parts.items() if part}
    files |= {f"timestamp-{at}.tst": token for at, token in enumerate(bundle.timestamps)}
    made = dsse.envelope(bundle)
    if made is not None:
        files["statement.intoto.jsonl"] = dsse.line(made)
    for item in bundle.disclosures:
        files |= _disclosed(item)
    return files


def _entry_name(seq: int, note: bytes) -> str:
    """Name an entry by its place and, if its envelope can be read, by its type."""
    try:
        kind = parse_envelope(open_leaf(note)[0]).type
    except GhostError:
        return f"{seq:06d}.note"
    return f"{seq:06d}-{kind}.note"


def _disclosed(item: Disclosure) -> dict[str, bytes]:
    if _SAFE.match(item.field) is None or item.seq < 0:
        raise IntegrityError(
            f"disclosure of entry {item.seq}: {item.field!r} is no name of a field",
            code="bundle.name",
        )
    stem = f"{item.seq:06d}-{item.field}"
    return {f"{stem}.payload": item.data, f"{stem}.salt": item.salt}
