"""The seal of a session: its last words, a checkpoint over all its entries by its own key.

Session root = RFC 6962 root over the leaf hashes in order of `seq`, `session.closed` last. The
entry `session.seal` that carries the note is in the log's tree, not in this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ghost_core.errors import IntegrityError
from ghost_ledger.checkpoint import head_text, parse_checkpoint
from ghost_ledger.entry import session_name
from ghost_ledger.keys import Key
from ghost_ledger.note import Vkey, open_note, sign_note
from ghost_ledger.tree import root

__all__ = ["SMALLEST", "Seal", "open_seal", "parse_seal", "seal_text", "sign_seal"]

SMALLEST = 2  # session.spawn and session.closed


@dataclass(frozen=True, slots=True)
class Seal:
    """What a seal says: which session, how many entries, which root."""

    log: str
    sid: str
    size: int
    root: bytes


def seal_text(log: str, sid: str, leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the text that the session key signs.

    Raises:
        IntegrityError: fewer than two entries, which no session has.
    """
    if len(leaf_hashes) < SMALLEST:
        raise _broken(f"expected at least {SMALLEST} entries, found {len(leaf_hashes)}")
    return head_text(session_name(log, sid), len(leaf_hashes), root(leaf_hashes))


def sign_seal(key: Key, log: str, sid: str, leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the seal note."""
    return sign_note(key, session_name(log, sid), seal_text(log, sid, leaf_hashes))


def parse_seal(text: bytes) -> Seal:
    """Read the text of a seal whose note was opened before.

    Raises:
        IntegrityError: not a checkpoint of a session, or fewer than two entries.
    """
    head = parse_checkpoint(text)
    log, found, sid = head.origin.rpartition("/s/")
    if not found or not log or not sid or "/" in sid:
        raise _broken(f"origin {head.origin} is not one of a session")
    if head.size < SMALLEST:
        raise _broken(f"expected at least {SMALLEST} entries, found {head.size}")
    return Seal(log, sid, head.size, head.root)


def open_seal(note: bytes, keys: Iterable[Vkey]) -> Seal:
    """Verify a seal note under known session keys and read it.

    Raises:
        IntegrityError: no known signature, a failing one, or not a seal.
    """
    return parse_seal(open_note(note, keys))


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"seal: {reason}", code="ledger.seal")
