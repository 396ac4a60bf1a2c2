"""Quarantine: a hook or a third leak stops a whole session; its calls and its children's are refused.

The word holds in this process before anything is written, so a ledger that fails lets nothing pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ghost_addons.refusal import Refusal
from ghost_core import ids, log
from ghost_core.errors import DeniedError, GhostError
from ghost_hooks.request import Verdict, plain
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft

if TYPE_CHECKING:
    from ghost_addons.action import Action
    from ghost_addons.services import Services
    from ghost_addons.session import LiveSession

_NAME_LIMIT = 256


def refusal(session: LiveSession) -> Refusal | None:
    """Return the refusal of every call of a session that is in quarantine, or below one that is."""
    source = session.quarantined
    if not source:
        return None
    which = "the session" if source == session.sid else f"session {source}, above this one,"
    return Refusal(
        403,
        "session.quarantined",
        f"{which} is in quarantine: nothing is allowed any more",
        stage="session",
        rule="session",
        hint=way_out(source),
    )


def way_out(sid: str) -> str:
    """Return what a human can do about a session in quarantine."""
    return f"a human can see why and end it: ghost session show {sid}, ghost evaporate"


def require_free(session: LiveSession) -> None:
    """Let nothing more of a body pass that was on its way.

    Raises DeniedError `session.quarantined`, or `session.ended` where the session is being sealed: its
    connection may stay for a held call.
    """
    if session.ending:
        raise DeniedError("the session has ended", code="session.ended")
    if session.quarantined:
        raise DeniedError("the session is in quarantine", code="session.quarantined")


async def consider(services: Services, action: Action, verdicts: Iterable[Verdict]) -> None:
    """Put the session in quarantine if a verdict says so: at once here, then durably.

    Raises: UnavailableError where the entry cannot be written; the session is in quarantine all the same,
    and `settle` writes it later.
    """
    verdict = next((each for each in verdicts if each.verdict == "quarantine"), None)
    session = action.session
    if verdict is None or session.quarantined:
        return
    impose(services, session, verdict, action_id=action.id, client=action.client)
    await settle(services, session)


def impose(
    services: Services, session: LiveSession, verdict: Verdict, *, action_id: str, client: str
) -> None:
    """Stop a session here and now; `settle` enters it. `client` is still to read why."""
    session.unwritten = _draft(session, verdict, action_id)
    services.sessions.quarantine(session, spare=client)
    log.events(__name__).warning(
        "session.quarantined", sid=session.sid, by=verdict.rule, action_id=action_id
    )


async def settle(services: Services, session: LiveSession) -> None:
    """Write the entry of a quarantine that is not in the ledger yet; raises GhostError if it cannot."""
    draft, session.unwritten = session.unwritten, None
    if draft is None:
        return
    try:
        await services.recorder.enter(draft)
    except GhostError:
        session.unwritten = draft
        raise


def _draft(session: LiveSession, verdict: Verdict, action_id: str) -> Draft:
    fields: dict[str, Value] = {
        "by": f"{verdict.by}:{plain(verdict.rule)}"[:_NAME_LIMIT],
        "reason": plain(verdict.reason or "no reason was given"),
    }
    if action_id:
        fields["action"] = action_id
    return Draft(session.sid, "session.quarantined", ids.entry_id(), fields)
