"""The view of all sessions, oldest first, with one verdict on the whole history."""

from __future__ import annotations

from typing import Any

from ghost_core.paths import Home
from ghost_ledger.export.record import Record, gather
from ghost_ledger.export.source import Source
from ghost_ledger.export.view import Parts, view
from ghost_ledger.export.views import SCHEMA
from ghost_ledger.reader import Ledger

__all__ = ["all_view"]


def all_view(
    ledger: Ledger,
    home: Home,
    *,
    key: str | None = None,
    disclose: bool = False,
    parts: Parts = "none",
) -> dict[str, Any]:
    """Return all sessions but the recorder's own, oldest first; verified only if each one is.

    The recorder's own are not shown, but a broken one breaks the history: refusals without a session
    stand there, and so would a session that was made to look like one. Where there is no other session,
    those in which memory was changed are the history; an empty one is not verified: no evidence is never
    a pass. Sessions that were pruned are only counted; the entry that says so is the recorder's own. Raises
    like `session_view`.
    """
    source = Source(ledger)
    records = [gather(source, home, sid, key=key) for sid in source.sessions()]
    views = [view(record, disclose=disclose, parts=parts) for record in records]
    count = source.count()
    # The recorder that runs has not sealed its own session yet, so only what is broken counts.
    own = [gather(source, home, sid, key=None) for sid in source.recorders()]
    hidden = [record.report.exit_code for record in own]
    kept = [record.report.exit_code for record in own if _memory(record)]
    codes = [each["verdict"]["exit_code"] for each in views] or [min(kept, default=8)]
    code = 7 if not count.whole or 7 in codes or 7 in hidden else max(codes)
    return {
        "schema": SCHEMA,
        "sessions": views,
        "verified": code == 0,
        "exit_code": code,
        "log": {"entries": count.entries, "places": count.places, "size": count.head},
        "pruned": count.pruned.view(),
        "recorder": {
            "sessions": len(own),
            "verified": hidden.count(0),
            "memory_changes": sum(map(_memory, own)),
        },
    }


def _memory(record: Record) -> int:
    """Count the changes of memory that a session signed."""
    return sum(item.type == "memory.changed" for item in record.signed)
