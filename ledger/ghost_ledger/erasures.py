"""What entries say was erased of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import GhostError
from ghost_ledger import entry

__all__ = ["Erased", "earlier"]

_LEAVES: Final = sa.text("SELECT id, leaf_hash FROM entries WHERE sid = :sid")
_SAID: Final = sa.text(
    "SELECT body, leaf_hash FROM entries WHERE type = 'payload.erased' ORDER BY idx"
)


@dataclass(frozen=True, slots=True)
class Erased:
    """The fields of one entry whose payloads were erased, and the leaf hash of the entry that says so."""

    id: str
    leaf_hash: str
    fields: tuple[str, ...]
    said: str


def earlier(
    connection: Connection, sid: str, *, action: str | None = None, field: str | None = None
) -> list[Erased]:
    """Return what was erased of a session, one action or one field of it, in log order.

    An entry that cannot be read says nothing here; the audit of the log names it.
    """
    rows = connection.execute(_LEAVES, {"sid": sid})
    own = {row.leaf_hash.hex(): str(row.id) for row in rows if action in {None, row.id}}
    found = []
    for row in connection.execute(_SAID):
        named, names = _said(row.body)
        fields = tuple(name for name in names if field in {None, name})
        if named in own and fields:
            found.append(Erased(own[named], named, fields, row.leaf_hash.hex()))
    return found


def _said(body: bytes) -> tuple[str, list[str]]:
    try:
        fields = entry.parse(body).fields
    except GhostError:
        return "", []
    names = fields["fields"]
    return str(fields["entry"]), [str(name) for name in names] if isinstance(names, list) else []
