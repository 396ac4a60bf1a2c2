"""`ghost session`: which sessions there are, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from ghost_cli import output, salvage, width
from ghost_core import db
from ghost_core.clock import Clock, SystemClock, rfc3339
from ghost_core.errors import NotFoundError
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.session import lifetime, quarantine, sweep
from ghost_ledger.session.custody import is_owned
from ghost_ledger.session.spawn import public_text
from ghost_ledger.store import SessionRow

INTENT_WIDTH: Final = 40
LEAST_INTENT: Final = 10

app = typer.Typer(help="List and show sessions.", no_args_is_help=True, add_completion=False)


@app.callback()
def session() -> None:
    """List and show sessions."""


@app.command("list")
def list_sessions(
    *,
    system: Annotated[
        bool, typer.Option("--all", help="Include the sessions of ghost itself.")
    ] = False,
) -> None:
    """List the sessions of this home, oldest first.

    Example: ghost session list --json
    """
    clock = SystemClock()
    with _ledger(clock) as ledger:
        rows = [] if ledger is None else ledger.sessions(system=system)
        sessions = [] if ledger is None else [_summary(ledger, row, clock) for row in rows]
    output.result(
        {"schema": "ghost/sessions/v1", "sessions": sessions},
        _table(sessions, width.columns()) if sessions else "no sessions",
    )


@app.command("show")
def show(
    session_id: Annotated[str, typer.Argument(metavar="ID", help="The session, gh_…")],
) -> None:
    """Show one session: its state, its keys, its actions by status.

    Example: ghost session show gh_…
    """
    clock = SystemClock()
    with _ledger(clock) as ledger:
        row = None if ledger is None else ledger.session(session_id)
        if ledger is None or row is None:
            raise NotFoundError(
                f"session {session_id[:64]}: not in this ledger",
                code="session.unknown",
                hint="ghost session list",
            )
        document = _details(ledger, row, clock)
    output.result(document, _lines(document))


def status_of(row: SessionRow, clock: Clock) -> str:
    """Return live, expired, evaporated or abandoned; expired is what nobody has sealed yet."""
    if row.status == "live":
        return "expired" if lifetime.expired(row, clock) else "live"
    return "evaporated" if row.status == "sealed" else row.status


@contextmanager
def _ledger(clock: Clock) -> Iterator[Ledger | None]:
    """Open the ledger for reading, after what the dead left open was written down; None if there is none."""
    opened = salvage.opened()
    url = opened.settings.database.url
    engine = db.engine(url)
    try:
        if not db.exists(engine):
            yield None
            return
        db.migrate(engine)
        if sweep.due(engine, clock):
            with opened.recorder() as recorder:
                sweep.sweep(recorder, opened.home, clock)
        yield Ledger(engine)
    finally:
        engine.dispose()


def _summary(ledger: Ledger, row: SessionRow, clock: Clock) -> dict[str, object]:
    status = status_of(row, clock)
    remaining = lifetime.remaining_us(row, clock) // 1_000_000 if status == "live" else 0
    return {
        "session_id": row.session_id,
        "status": status,
        "intent": row.intent,
        "scopes": list(row.scopes),
        "spawned_at": row.spawned_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "expires_at": rfc3339(row.expires_at),
        "ttl_seconds": row.ttl_seconds,
        "remaining_seconds": remaining,
        "owned": row.status == "live" and is_owned(row.session_id),
        "quarantined": bool(quarantine.source(ledger, row)),
        "system": row.system,
        "parent_id": row.parent,
    }


def _details(ledger: Ledger, row: SessionRow, clock: Clock) -> dict[str, object]:
    ended = row.evaporated_at
    public = Vkey.parse(row.vkey).public
    actions: Counter[str] = Counter()
    for action in ledger.actions(row.session_id):
        actions[action.status] += action.count
    return {
        "schema": "ghost/session/v1",
        **_summary(ledger, row, clock),
        "quarantine": _quarantine(ledger, row),
        "evaporated_at": ended.strftime("%Y-%m-%dT%H:%M:%SZ") if ended else None,
        "reason": row.reason,
        "actions": dict(sorted(actions.items())),
        "ephemeral_key": public_text(public),
        "verify_key": row.vkey,
        "wire_key": public_text(bytes.fromhex(row.wire_key)),
        "root": row.root,
        "size": row.size,
    }


def _quarantine(ledger: Ledger, row: SessionRow) -> dict[str, object] | None:
    """Return which session was put in quarantine, by what and why; None where none was."""
    source = quarantine.source(ledger, row)
    imposed = quarantine.imposed(ledger, source) if source else None
    if imposed is None:
        return None
    return {
        "session_id": source,
        "by": imposed.by,
        "reason": imposed.reason,
        "action_id": imposed.action or None,
        "at": rfc3339(imposed.ts),
    }


def _table(sessions: list[dict[str, object]], room: int | None) -> str:
    """Return a row for each; where there is little room columns go first, then the end of the line, no id."""
    rows = [("SESSION", "STATUS", "LEFT", "SPAWNED", "INTENT"), *map(_row, sessions)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    kept = 4
    while room is not None and kept > 2 and sum(widths[:kept]) + 2 * kept + LEAST_INTENT > room:
        kept -= 1
    fitted = max(room, widths[0]) if room is not None else None
    padded = ([*map(str.ljust, row, widths[:kept]), row[4]] for row in rows)
    return "\n".join(width.cut("  ".join(cells), fitted) for cells in padded)


def _row(session: dict[str, object]) -> tuple[str, str, str, str, str]:
    left = f"{session['remaining_seconds']} s" if session["status"] == "live" else "-"
    intent = width.cut(str(session["intent"] or "").replace("\n", " "), INTENT_WIDTH)
    stopped = session["status"] == "live" and session["quarantined"]
    named = str(session["session_id"]), "quarantined" if stopped else str(session["status"])
    return (*named, left, str(session["spawned_at"]), intent)


def _lines(document: dict[str, object]) -> str:
    shown = {name: value for name, value in document.items() if name != "schema"}
    longest = max(map(len, shown))
    return "\n".join(f"{name:<{longest}}  {_text(value)}" for name, value in shown.items())


def _text(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case {"by": by, "reason": reason}:
            return f"{by}: {reason}"
        case dict():
            return ", ".join(f"{count} {name}" for name, count in value.items()) or "-"
        case list():
            return ", ".join(map(str, value)) or "-"
        case _:
            return str(value).replace("\n", " ")
