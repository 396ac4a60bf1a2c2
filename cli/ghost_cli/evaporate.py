"""`ghost evaporate`: end a session, seal its entries, wipe its keys."""

from __future__ import annotations

from typing import Annotated

import typer

from ghost_cli import output, salvage, sessions
from ghost_cli.sessions import Message, Opened
from ghost_core.clock import SystemClock, rfc3339
from ghost_core.errors import DeniedError, NotFoundError
from ghost_ledger.reader import Ledger
from ghost_ledger.store import SessionRow

MARGIN_SECONDS = 30.0


def evaporate(
    *,
    session_id: Annotated[str, typer.Option(help="Session to end.", envvar="GHOST_SESSION_ID")],
    grace: Annotated[float, typer.Option(help="Seconds for calls in flight.", min=0, max=600)] = 5,
) -> int:
    """End a session and seal its entries.

    Example: ghost evaporate --session-id gh_…
    """
    request: Message = {"op": "evaporate", "grace": grace}
    try:
        document = sessions.asked(
            session_id,
            request,
            timeout=grace + MARGIN_SECONDS,
            alone=lambda: _alone(salvage.opened(), session_id),
        )
    except DeniedError as error:
        if error.code != "session.evaporated":
            raise
        document = _alone(salvage.opened(), session_id)
    output.result(document)
    return 0


def _alone(opened: Opened, sid: str) -> Message:
    """End a session that nobody owns, or repeat what was answered before."""
    with opened.ledger() as ledger:
        row = ledger.session(sid)
        if row is None or row.system:
            raise sessions.unknown(f"session {sid[:64]}: not in this ledger")
        if row.status == "live":
            return _end(opened, ledger, sid)
        return _answered(opened, ledger, row)


def _end(opened: Opened, ledger: Ledger, sid: str) -> Message:
    from ghost_addons import evaporate as ending
    from ghost_addons.session import Sessions

    clock = SystemClock()
    with opened.recorder() as recorder:
        session = Sessions(opened.home, ledger, recorder, clock).admit(sid, ended=True)
        return ending.conclude(
            session, home=opened.home, ledger=ledger, recorder=recorder, clock=clock, secrets=()
        )


def _answered(opened: Opened, ledger: Ledger, row: SessionRow) -> Message:
    """Return the kept answer; a session that was sealed at its expiry never had one."""
    from ghost_addons import evaporate as ending

    try:
        return ending.kept(opened.home, row.session_id)
    except NotFoundError:
        return _from_entries(ledger, row)


def _from_entries(ledger: Ledger, row: SessionRow) -> Message:
    """Make the answer of a sealed session from its last two entries.

    Raises DeniedError `session.abandoned`: its key was lost, so there is no seal.
    """
    from ghost_ledger import entry, note
    from ghost_ledger.session.custody import has_key

    found = [entry.parse(stored.body) for stored in ledger.entries(row.session_id)]
    if not found or found[-1].type != "session.seal":
        raise DeniedError(
            f"session {row.session_id}: was abandoned, its key is lost and it has no seal",
            code="session.abandoned",
            hint=f"ghost replay --session-id {row.session_id}",
        )
    closed, seal = found[-2].fields, found[-1]
    _, (line, *_rest) = note.split(str(seal.fields["note"]).encode())
    actions = ledger.actions(row.session_id)
    names = {action.credential for action in actions if action.credential}
    return {
        "session_id": row.session_id,
        "status": "evaporated",
        "lived_for_seconds": closed["lived_seconds"],
        "actions_executed": sum(each.count for each in actions if each.status == "executed"),
        "residue_hash": f"sha256_root_{seal.fields['root']}",
        "credentials_rotated": False,
        "ephemeral_key_destroyed": not has_key(row.session_id),
        "timestamp": rfc3339(seal.ts),
        "reason": closed["reason"],
        "root_signature": f"ed25519_root_sig_{line.signature.hex()}",
        "summary": closed["summary"],
        "revocation": [{"credential": name, "state": "static"} for name in sorted(names)],
        "memory_scan": "unsupported",
    }
