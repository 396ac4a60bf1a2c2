"""Every memory against what was entered of it: the rows must follow from the entries, and from nothing else.

The entries are right. Whether they are whole and signed is the ledger's answer, not this one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import IntegrityError
from ghost_ledger import commitment
from ghost_memory.entered import entered
from ghost_memory.limits import shown
from ghost_memory.telling import Told, told

__all__ = ["Checked", "Wrong", "check"]

_ROWS: Final = sa.text(
    "SELECT id, project_id, content, pinned, resolved_at FROM memories ORDER BY seq"
)
_CONTINUED: Final = sa.text("SELECT 1 FROM entries WHERE idx = 2 AND type = 'log.continued'")
_SALTS: Final = sa.text("SELECT entry_idx, salt FROM payloads WHERE field = 'content'")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A memory that does not follow from its entries, or of which nobody can tell."""

    id: str
    state: Literal["broken", "undecided"]
    why: str


@dataclass(frozen=True, slots=True)
class Checked:
    """How many memories there are, which of them are wrong, and in which sessions their entries lie."""

    memories: int
    wrong: tuple[Wrong, ...]
    sessions: tuple[str, ...]


def check(connection: Connection) -> Checked:
    """Compare all memories with the entries, in one state of the database."""
    changes = list(entered(connection))
    known = told(changes)
    salts = {int(row[0]): bytes(row[1]) for row in connection.execute(_SALTS)}
    rows = connection.execute(_ROWS).mappings().all()
    continued = connection.execute(_CONTINUED).first() is not None
    found = [_judged(row, known.get(str(row["id"])), salts, continued=continued) for row in rows]
    here = {str(row["id"]) for row in rows}
    lost = [
        Wrong(name, "broken", "is gone, and no entry says so")
        for name, each in known.items()
        if each.exists and each.readable and name not in here
    ]
    wrong = tuple(each for each in [*found, *lost] if each is not None)
    return Checked(len(rows), wrong, tuple(dict.fromkeys(each.sid for each in changes)))


def _judged(
    row: sa.RowMapping, said: Told | None, salts: Mapping[int, bytes], *, continued: bool
) -> Wrong | None:
    name = str(row["id"])
    if said is None and continued:
        return Wrong(
            name, "undecided", "no entry speaks of it, and the log goes on from another one"
        )
    if said is None:
        return Wrong(name, "broken", "no entry speaks of it")
    if not said.readable:
        return Wrong(name, "undecided", "an entry of it is of a version that is not known here")
    broken = _broken(row, said)
    if broken:
        return Wrong(name, "broken", broken)
    return _text(name, str(row["content"]), said, salts.get(said.place))


def _broken(row: sa.RowMapping, said: Told) -> str:
    """Return what a row says against its entries; None in `said` is what they do not say."""
    if not said.exists:
        return "its last entry says that it was removed"
    if row["project_id"] != said.project:
        return f"lies in {shown(str(row['project_id']))}, entered for {shown(said.project)}"
    if said.pinned is not None and bool(row["pinned"]) != said.pinned:
        return f"is {'pinned' if row['pinned'] else 'not pinned'}, entered otherwise"
    resolved = row["resolved_at"] is not None
    if said.resolved is not None and resolved != said.resolved:
        return f"is {'resolved' if resolved else 'not resolved'}, entered otherwise"
    return ""


def _text(name: str, content: str, said: Told, salt: bytes | None) -> Wrong | None:
    if salt is None:
        return Wrong(name, "undecided", "the salt of its text is gone, so nobody can compare it")
    try:
        if commitment.check("content", salt, content.encode("utf-8", "replace"), said.content):
            return None
    except IntegrityError as error:
        return Wrong(name, "broken", error.message)
    return Wrong(name, "broken", "its text is not the one that was entered")
