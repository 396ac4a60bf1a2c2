"""The entries that speak of memory, read from the ledger in its order; nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import GhostError
from ghost_ledger import entry
from ghost_ledger.store import time_text
from ghost_memory.journal import CHANGED

__all__ = ["Entered", "entered"]

_ENTRIES: Final = sa.text("SELECT idx, body FROM entries ORDER BY idx")
_MARK: Final = (
    f'"type":"{CHANGED}"'.encode()
)  # as it is written; inside a text the marks are escaped


@dataclass(frozen=True, slots=True)
class Entered:
    """One change as it was entered; `content` is the commitment to the text.

    `readable` is false for an entry of a version that is not known here.
    """

    place: int
    entry: str
    sid: str
    at: str
    readable: bool
    subject: str
    change: str
    project: str = ""
    by: str = ""
    host: str = ""
    session: str = ""
    reason: str = ""
    content: str = ""


def entered(connection: Connection, *, holding: str = "") -> Iterator[Entered]:
    """Yield the changes, oldest first; with `holding` only those whose entry holds that text.

    The bodies are asked what they are, not the columns beside them, which somebody could have changed.
    """
    needle = holding.encode()
    for place, stored in connection.execute(_ENTRIES):
        body = stored.encode() if isinstance(stored, str) else bytes(stored)  # a text was put there
        if _MARK in body and needle in body:
            found = _read(int(place), body)
            if found is not None:
                yield found


def _read(place: int, body: bytes) -> Entered | None:
    """Read an entry; one that breaks the grammar breaks its session, and that is told there."""
    try:
        found = entry.parse_envelope(body)
    except GhostError:
        return None
    names = ("project", "by", "host", "session", "reason", "content")
    fields = {name: str(found.fields.get(name, "")) for name in names}
    said = (str(found.fields.get(name, "")) for name in ("memory", "change"))
    known = found.type == CHANGED and _is_known(found)
    return Entered(place, found.id, found.sid, time_text(found.ts), known, *said, **fields)


def _is_known(found: entry.Entry) -> bool:
    try:
        entry.check_content(found)
    except GhostError:
        return False
    return True
