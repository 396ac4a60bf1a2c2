"""Building a bundle: the notes of a session, and proofs that the signed head includes its ends."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.engine import Connection

from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import entry, identity, tiles, tree
from ghost_ledger.bundle import Bundle, Disclosure
from ghost_ledger.chain import LogState
from ghost_ledger.checkpoint import Checkpoint, Proof, encode_proof, sign_checkpoint
from ghost_ledger.handovers import KeptHandovers
from ghost_ledger.note import Vkey
from ghost_ledger.stored import StoredEntry, note_of

__all__ = ["build", "sign_head"]


def sign_head(home: Home, state: LogState) -> bytes:
    """Sign the head of the log; the caller has remembered it on disk before.

    Of a log that was left with its key it is the one that was signed last.

    Raises:
        IntegrityError: code `ledger.log_key`, this home does not hold the key of this log.
    """
    frontier, vkey = state.frontier, Vkey.parse(state.vkey)
    key = identity.key_of_log(home, vkey.public)
    kept = None if key else KeptHandovers.of(home, state.origin).last(vkey)
    if kept and kept[0] == Checkpoint(state.origin, frontier.size, frontier.root()):
        return kept[1]
    if key is None:
        raise IntegrityError(
            f"log {state.origin}: this home does not hold its key {state.vkey}",
            code="ledger.log_key",
            hint=f"restore {home.keys / identity.LOG_KEY}",
        )
    try:
        return sign_checkpoint(key, state.origin, frontier.size, frontier.root())
    finally:
        key.wipe()


def build(
    connection: Connection,
    stored: Sequence[StoredEntry],
    size: int,
    head: bytes,
    disclosures: Sequence[Disclosure],
    *,
    handovers: Sequence[bytes] = (),
) -> Bundle:
    """Put a session's entries together with proofs to a head over `size` entries."""
    first, last = stored[0], stored[-1]
    sealed = last.type == "session.seal"
    seal = str(entry.parse_envelope(last.body).fields["note"]).encode() if sealed else None
    return Bundle(
        entries=tuple(note_of(item, first) for item in stored),
        seal=seal,
        spawn_proof=_proof(connection, first.idx, size, head),
        seal_proof=_proof(connection, last.idx, size, head) if sealed else None,
        head=head,
        disclosures=tuple(disclosures),
        handovers=tuple(handovers),
    )


def _proof(connection: Connection, index: int, size: int, head: bytes) -> str:
    return encode_proof(
        Proof(index, tree.inclusion_proof(tiles.nodes(connection), index, size), head)
    )
