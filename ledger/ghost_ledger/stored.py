"""What the ledger holds, as values: entries, payloads, the head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_ledger import entry, pruned
from ghost_ledger.note import Vkey

__all__ = ["StoredEntry", "StoredHead", "StoredPayload", "note_of", "read_entries"]

_ENTRIES: Final = sa.text(
    "SELECT idx, sid, seq, type, id, ts, body, sig, leaf_hash"
    " FROM entries WHERE sid = :sid ORDER BY seq"
)


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """A signed entry; `ts` microseconds UTC."""

    idx: int
    sid: str
    seq: int
    type: str
    id: str
    ts: int
    body: bytes
    sig: bytes
    leaf_hash: bytes


@dataclass(frozen=True, slots=True)
class StoredPayload:
    """A payload, opened; `size` is that of the committed bytes, `data` maybe a part of them."""

    entry_idx: int
    seq: int
    field: str
    salt: bytes
    commitment: str
    data: bytes | None
    size: int
    truncated: bool
    media: str


@dataclass(frozen=True, slots=True)
class StoredHead:
    """The head of the log; `last_ts` microseconds UTC, `vkey` the key that signs its heads."""

    origin: str
    size: int
    root: bytes
    last_ts: int
    vkey: str


def read_entries(connection: Connection, sid: str) -> list[StoredEntry]:
    """Return the entries of a session in order of `seq`.

    Raises:
        NotFoundError: code `ledger.pruned`, nothing but the seal is left, and an entry says so.
    """
    found = [StoredEntry(*row) for row in connection.execute(_ENTRIES, {"sid": sid})]
    if found and found[0].seq and found[0].type == "session.seal":
        pruned.refuse(connection, sid, found[0].idx)
    return found


def note_of(item: StoredEntry, first: StoredEntry) -> bytes:
    """Rebuild the note of an entry; the key is the one that the session's first entry names.

    Raises:
        IntegrityError: the first entry is malformed.
    """
    key = Vkey.parse(str(entry.parse_envelope(first.body).fields.get("vkey")))
    return entry.leaf(item.body, item.sig, key.name, key.key_id)
