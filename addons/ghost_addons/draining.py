"""Calls that outlast their session, or the process that carries them: cut, and entered as aborted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ghost_addons import delivery
from ghost_addons.action import Action
from ghost_addons.services import Services
from ghost_addons.session import LiveSession
from ghost_core import log
from ghost_core.errors import GhostError

__all__ = ["CUT_SECONDS", "drain", "settle_left"]

CUT_SECONDS = 1.0


async def drain(
    services: Services, session: LiveSession, close: Callable[[str], None], grace_seconds: float
) -> None:
    """Cut the streams of a session at once, its held calls after the grace, and settle what is left."""
    held = {action.client for action in session.calls.values() if not action.flows}
    for client in session.clients - held:
        close(client)
    loop = asyncio.get_running_loop()
    end = loop.time() + grace_seconds
    while any(not action.flows for action in session.calls.values()) and loop.time() < end:
        await asyncio.sleep(0.02)
    for client in set(session.clients):
        close(client)
    end = loop.time() + CUT_SECONDS
    while session.calls and loop.time() < end:
        await asyncio.sleep(0.01)
    for action in list(session.calls.values()):
        await _abort(services, action, "session.ended")


async def settle_left(services: Services, session: LiveSession) -> None:
    """Settle what a stop left; a call that cannot be entered now is found by the next owner."""
    for action in list(session.calls.values()):
        try:
            await _abort(services, action, "proxy.stopped")
        except GhostError as error:
            log.events(__name__).error(
                "call.unsettled", sid=session.sid, action=action.id, code=error.code
            )


async def _abort(services: Services, action: Action, error: str) -> None:
    if action.entering is not None and action.intent is None:
        await asyncio.wait((action.entering,))
        if action.entering.exception() is not None:
            action.session.calls.pop(action.id, None)
            return  # nothing was entered that an outcome could name
        (action.intent,) = action.entering.result()
    status = "executed" if action.http_status else "failed"
    await delivery.settle(services, action, status=status, ended="aborted", error=error)
