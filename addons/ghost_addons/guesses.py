"""Guesses at a secret: each refusal of a leak tells the agent that one was right, so few are answered.

Counted is a session with all above and below it, over connections and owners: who may have children must
not get further guesses by them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ghost_addons import quarantine
from ghost_addons.leak import LEAKED
from ghost_addons.refusal import Refusal
from ghost_core.errors import GhostError
from ghost_hooks.request import Verdict

if TYPE_CHECKING:
    from ghost_addons.services import Services
    from ghost_addons.session import LiveSession

LIMIT = 3
"""How many calls of a family of sessions may hold a secret of ours before it is stopped."""


async def answered(
    services: Services, session: LiveSession, refusal: Refusal, *, action_id: str, client: str
) -> Refusal:
    """Return what the agent reads of a leak: from the third on, that it is stopped.

    Raises: UnavailableError where the quarantine cannot be entered; it holds all the same.
    """
    stopped = quarantine.refusal(session)
    if stopped is not None:  # this call was under way already, and is no further guess
        return stopped
    top = count(services, session, action_id=action_id, client=client)
    if top is None:
        return refusal
    await quarantine.settle(services, top)
    which = "the session" if top is session else f"session {top.sid}, above this one,"
    message = f"{refusal.message}; after {LIMIT} such calls {which} is in quarantine"
    return replace(refusal, message=message, hint=f"{refusal.hint}; {quarantine.way_out(top.sid)}")


def count(
    services: Services, session: LiveSession, *, action_id: str, client: str = ""
) -> LiveSession | None:
    """Count a call that held a secret; returns the session that is put in quarantine for it, or None.

    The entry is left to `quarantine.settle`.
    """
    family = _family(services, session.sid)
    root, leaks = family[0], services.sessions.leaks
    if root not in leaks:
        leaks[root] = services.ledger.failures(family, LEAKED)
    leaks[root] += 1
    if leaks[root] < LIMIT or session.quarantined:
        return None
    top = _top(services, session, root)
    reason = f"{LIMIT} calls held a secret that agents must not have"
    verdict = Verdict.no("guard", LEAKED, reason, code=LEAKED)
    quarantine.impose(services, top, verdict, action_id=action_id, client=client)
    return top


def _family(services: Services, sid: str) -> list[str]:
    """Return the session at the root first, then all below it."""
    parents = {row.session_id: row.parent for row in services.ledger.sessions()}
    path = [sid]
    while (above := parents.get(path[-1])) and above not in path:
        path.append(above)
    found = [path[-1]]
    for each in found:
        found += [name for name, parent in parents.items() if parent == each and name not in found]
    return found


def _top(services: Services, session: LiveSession, root: str) -> LiveSession:
    """Return the session at the root, or where another process signs for it, this one."""
    try:
        return services.sessions.admit(root)
    except GhostError:
        return session
