"""The signing chain of a session, and the state of the log between two batches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_core.errors import DeniedError, IntegrityError
from ghost_ledger import entry, note
from ghost_ledger.drafts import Draft
from ghost_ledger.keys import Key
from ghost_ledger.tree import Frontier

__all__ = ["ChainEnd", "LogState", "Signer", "check_first", "load_end", "load_state"]

_STATE: Final = "SELECT origin, size, frontier, last_ts, vkey FROM log_head"
_END: Final = sa.text(
    "SELECT seq, leaf_hash, type FROM entries WHERE sid = :sid ORDER BY seq DESC LIMIT 1"
)
_SESSION: Final = sa.text("SELECT status, vkey FROM sessions WHERE session_id = :sid")


@dataclass(frozen=True, slots=True)
class LogState:
    """The log head as committed; `last_ts` microseconds UTC."""

    origin: str
    vkey: str
    frontier: Frontier
    last_ts: int


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Where the next entry of a session goes; `prev` in hex."""

    seq: int = 0
    prev: str = entry.FIRST_PREV


@dataclass(frozen=True, slots=True)
class Signer:
    """The key under which a session's entries are signed here, with what its notes need."""

    key: Key
    name: str
    key_id: bytes
    key_hash: str

    @classmethod
    def of(cls, key: Key, origin: str, sid: str) -> Signer:
        """Prepare the key for a session of a log."""
        name = entry.session_name(origin, sid)
        key_hash = hashlib.sha256(key.public).hexdigest()
        return cls(key, name, note.key_id(name, key.public), key_hash)

    @property
    def vkey(self) -> str:
        """The verifier key line of this signer."""
        return note.Vkey(self.name, self.key.public).format()


def load_state(connection: Connection) -> LogState | None:
    """Read the head row, or return None where no log was created yet."""
    row = db.first(connection, _STATE)
    if row is None:
        return None
    origin, size, frontier_bytes, last_ts, vkey = row
    frontier = Frontier.decode(frontier_bytes)
    if frontier.size != size:
        raise IntegrityError(
            f"log {origin}: head says {size} entries, its frontier {frontier.size}",
            code="ledger.head",
        )
    return LogState(origin, vkey, frontier, last_ts)


def load_end(connection: Connection, sid: str, signer: Signer) -> ChainEnd:
    """Find where the session goes on.

    Raises:
        DeniedError: codes `session.sealed`, `session.abandoned`: nothing may follow.
        IntegrityError: code `ledger.key`, the session was opened with another key.
    """
    last = connection.execute(_END, {"sid": sid}).first()
    if last is None:
        return ChainEnd()
    session = connection.execute(_SESSION, {"sid": sid}).first()
    if last.type == "session.seal" or session is None or session.status != "live":
        state = "sealed" if session is None else session.status
        raise DeniedError(
            f"session {sid}: is {state}, nothing can be added",
            code=f"session.{state}",
            hint="ghost spawn",
        )
    if session.vkey != signer.vkey:
        raise IntegrityError(f"session {sid}: was opened with another key", code="ledger.key")
    return ChainEnd(last.seq + 1, last.leaf_hash.hex())


def check_first(draft: Draft, end: ChainEnd, signer: Signer) -> None:
    """Demand that a session starts with its spawn, under the key that signs, and only once.

    Raises:
        IntegrityError: code `ledger.order` or `ledger.key`.
    """
    if (draft.type == "session.spawn") != (end.seq == 0):
        raise IntegrityError(
            f"session {draft.sid}: entry {end.seq} cannot be a {draft.type}", code="ledger.order"
        )
    if end.seq == 0 and draft.fields.get("vkey") != signer.vkey:
        raise IntegrityError(
            f"session {draft.sid}: spawn names another key than the one that signs",
            code="ledger.key",
        )
