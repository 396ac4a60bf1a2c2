"""`ghost evaporate`: end a session, seal its entries, wipe its keys."""

from __future__ import annotations

from typing import Annotated

import typer

from ghost_addons import evaporate as ending
from ghost_cli import output
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.errors import DeniedError, NotFoundError
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import control, sweep

MARGIN_SECONDS = 30.0


def evaporate(
    *,
    session_id: Annotated[str, typer.Option(help="Session to end.", envvar="GHOST_SESSION_ID")],
    grace: Annotated[float, typer.Option(help="Seconds for calls in flight.", min=0, max=600)] = 5,
) -> int:
    """End a session and seal its entries.

    Example: ghost evaporate --session-id gh_…
    """
    opened = Opened.now()
    request: dict[str, object] = {"op": "evaporate", "grace": grace}
    try:
        document = control.ask(session_id, request, timeout=grace + MARGIN_SECONDS)
    except (NotFoundError, DeniedError) as error:
        if error.code not in ("session.no_owner", "session.evaporated"):
            raise
        document = _alone(opened, session_id)
    output.result(document)
    return 0


def _alone(opened: Opened, session_id: str) -> dict[str, object]:
    """Become the owner of a session that has none, and end it; or repeat what was answered before."""
    from ghost_addons.session import Sessions

    engine = db.engine(opened.settings.database.url)
    ledger = Ledger(engine)
    row = ledger.session(session_id)
    if row is None or row.system:
        raise NotFoundError(
            f"session {session_id[:64]}: not in this ledger",
            code="session.unknown",
            hint="ghost session list",
        )
    if row.evaporated_at is not None:
        return ending.kept(opened.home, session_id)
    clock = SystemClock()
    recorder = Recorder.open(opened.home, opened.settings.database.url, clock=clock)
    try:
        sweep.sweep(recorder, opened.home, clock)
        session = Sessions(opened.home, ledger, recorder, clock).admit(session_id, ended=True)
        return ending.conclude(
            session,
            home=opened.home,
            ledger=ledger,
            recorder=recorder,
            clock=clock,
            secrets=(),
        )
    finally:
        recorder.close()
