"""What a session has used of each action, counted from its intents: what became of them does not matter.

An intent without an outcome may have been sent, so it counts like any other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import IntegrityError

__all__ = ["Counted", "counted"]

_INTENTS: Final = sa.text(
    "SELECT body FROM entries WHERE sid = :sid AND type = 'action.intent' ORDER BY seq"
)
_EXACT: Final = Context(prec=60)  # amounts have at most 18 digits on each side of the point


@dataclass(frozen=True, slots=True)
class Counted:
    """Calls of one action: how many, request bytes, the sum of the amounts that were entered."""

    calls: int = 0
    bytes: int = 0
    sum: Decimal = Decimal(0)


def counted(connection: Connection, sid: str) -> dict[tuple[str, str], Counted]:
    """Return what the intents of a session add up to, by tool and action.

    Bytes that streamed are in none of them. Raises IntegrityError `ledger.grammar` for an entry that
    cannot be read.
    """
    found: dict[tuple[str, str], Counted] = {}
    for body in connection.execute(_INTENTS, {"sid": sid}).scalars():
        fields = _fields(body)
        name = (str(fields["tool"]), str(fields["action"]))
        used = fields.get("counted", {})
        before = found.get(name, Counted())
        found[name] = Counted(
            before.calls + 1,
            before.bytes + int(used.get("bytes", fields.get("size", 0))),
            _EXACT.add(before.sum, Decimal(used.get("sum", 0))),
        )
    return found


def _fields(body: bytes) -> Any:
    """Read an entry that was checked when it was written; a session may have a hundred thousand."""
    try:
        return json.loads(body)
    except ValueError as error:
        raise IntegrityError("entry: is no JSON", code="ledger.grammar") from error
