"""Entering a refusal, wherever its call stands: not judged yet, under way, or admitted with an intent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ghost_addons import admission, delivery, guesses, leak, trail
from ghost_addons.action import Action
from ghost_addons.record import Attempt
from ghost_addons.refusal import Refusal, no_ledger
from ghost_addons.services import Services
from ghost_core import ids, log
from ghost_core.errors import GhostError

METHOD_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Denial:
    """What the agent is told, and under which session and action it was entered; empty where it was not."""

    refusal: Refusal
    sid: str = ""
    action_id: str = ""


async def enter(
    services: Services,
    action: Action | None,
    attempted: Callable[[], Attempt],
    refusal: Refusal,
    *,
    client: str,
    address: str = "",
) -> Denial:
    """Enter a refusal; if it cannot be entered, what the agent is told is that there is no ledger (503).

    It never raises: `attempted`, which says what is known of the call, is asked inside.
    """
    try:
        attempt = attempted()
        refusal = leak.spoken(services.secrets, refusal, attempt)
        refusal = await _answered(services, refusal, attempt, client=client)
        return await _entered(services, action, attempt, refusal, address=address)
    except Exception as error:  # noqa: BLE001  # a refusal that fails may not let the call pass
        code = error.code if isinstance(error, GhostError) else "guard.unrecorded"
        log.events(__name__).error("refusal.unrecorded", error=type(error).__name__, code=code)
        return Denial(no_ledger(code))


async def _answered(
    services: Services, refusal: Refusal, attempt: Attempt, *, client: str
) -> Refusal:
    """Return what is told; a leak is also a guess, and few of these are answered."""
    session = services.sessions.get(attempt.sid)
    if session is None or refusal.code != leak.LEAKED:
        return refusal
    return await guesses.answered(services, session, refusal, action_id=attempt.id, client=client)


async def _entered(
    services: Services,
    action: Action | None,
    attempt: Attempt,
    refusal: Refusal,
    *,
    address: str,
) -> Denial:
    if action is not None and (action.admitted or action.intent is not None):
        await delivery.settle_refused(services, action, refusal)
        if action.recorded:
            return Denial(refusal, action.session.sid, action.id)
        # an allowed read has no entry, one that we cut short has
        return await _denied(services, admission.attempt_of(action), refusal, address=address)
    if refusal.code == "session.missing":
        return Denial(refusal)
    if action is not None:
        action.session.calls.pop(action.id, None)
    return await _denied(services, attempt, refusal, address=address)


async def _denied(
    services: Services, attempt: Attempt, refusal: Refusal, *, address: str
) -> Denial:
    """Enter what never was a call of its own."""
    session = services.sessions.get(attempt.sid)
    if session is None or session.ending:
        attempt = replace(attempt, sid="")  # what concerns no living session, the system enters
    attempt = leak.clean_attempt(attempt, services.secrets.scrubber)
    # Cut only now: half a secret would not have been found.
    method = attempt.method[:METHOD_CHARACTERS]
    attempt = replace(attempt, method=method, id=attempt.id or ids.action_id())
    keeping = services.governor.keeping()
    receipt = await services.refusals.enter(attempt, refusal, keeping, address=address)
    if receipt is not None and session is not None:
        services.sessions.tell_ticket(attempt.id, refusal, receipt)
    trail.told(
        "action.denied",
        sid=attempt.sid,
        action_id=attempt.id,
        method=attempt.method,
        host=attempt.host,
        status=refusal.status,
        code=refusal.code,
        rule=refusal.rule,
    )
    return Denial(refusal, attempt.sid, attempt.id if receipt is not None else "")
