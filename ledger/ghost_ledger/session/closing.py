"""The last entry before the seal: what a session did, counted from its entries and its tally of reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ghost_core import db
from ghost_ledger.canonical import Value, encode
from ghost_ledger.session.tally import Tally

SUMMARY_ROWS: Final = 64
SUMMARY_BYTES: Final = 12_288
"""Agents choose how long a refused host is; an entry that is too long would keep off the seal."""

type Row = dict[str, Value]

_COUNTS = sa.text(
    "SELECT tool, action, status, SUM(count) FROM actions WHERE session_id = :sid"
    " GROUP BY tool, action, status"
)
_BYTES = sa.text(
    "SELECT COALESCE(SUM(sent), 0), COALESCE(SUM(received), 0) FROM actions WHERE session_id = :sid"
)


def closed_fields(
    engine: Engine, sid: str, tally: Tally, *, reason: str, lived_seconds: int
) -> dict[str, Value]:
    """Return the fields of `session.closed`.

    Over 64 kinds of actions, or 12 KiB of them, the rarest are left out and `omitted` counts them.
    """
    with db.read(engine) as connection:
        counts = connection.execute(_COUNTS, {"sid": sid}).all()
        sent, received = connection.execute(_BYTES, {"sid": sid}).one()
    kinds = Counter({(str(row[0]), str(row[1]), str(row[2])): int(row[3]) for row in counts})
    kinds += tally.reads
    ranked = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    rows: list[Row] = [
        {"tool": tool, "action": action, "status": status, "count": count}
        for (tool, action, status), count in ranked[:SUMMARY_ROWS]
    ]
    summary = _fitting(rows)
    fields: dict[str, Value] = {
        "reason": reason,
        "reads": tally.reads.total(),
        "bytes_sent": int(sent) + tally.bytes_sent,
        "bytes_received": int(received) + tally.bytes_received,
        "summary": summary,
        "lived_seconds": lived_seconds,
    }
    omitted = len(ranked) - len(summary)
    return fields | ({"omitted": omitted} if omitted else {})


def _fitting(rows: Sequence[Row]) -> list[Value]:
    """Return as many of the rows, from the first on, as an entry can hold."""
    sizes = accumulate(len(encode(row)) + 1 for row in rows)
    return [row for row, size in zip(rows, sizes, strict=True) if size <= SUMMARY_BYTES]
