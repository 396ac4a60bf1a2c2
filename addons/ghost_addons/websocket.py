"""Websockets: judged as the GET of their path, relayed message by message, scrubbed, counted."""

from __future__ import annotations

from mitmproxy import http

from ghost_addons import guesses, leak
from ghost_addons.action import Action
from ghost_addons.services import Services

VERSION = "13"  # RFC 6455 §4.1


def agreed(request: http.Request, response: http.Response) -> bool:
    """Tell whether a 101 begins a websocket, by the same marks as the engine (RFC 6455 §4.1)."""
    upgrade: str = response.headers.get("upgrade", "")
    version: str = request.headers.get("sec-websocket-version", "")
    return upgrade.lower() == "websocket" and version == VERSION


def relay(services: Services, action: Action, flow: http.HTTPFlow) -> bool:
    """Clean and count the newest message; returns False where the connection has to end.

    That is when the session has ended or is stopped, or when a client's message holds a secret of ours.

    The engine keeps every message for the connection's life; only the newest is left, so memory stays flat.
    Of a secret that is split over messages the beginning has gone already, and the rest is taken out.
    """
    data = flow.websocket
    assert data is not None
    message = data.messages[-1]
    data.messages[:-1] = []
    if action.session.quarantined or not action.session.alive():
        message.drop()
        return False
    if message.from_client:
        name = services.secrets.owner(message.content)
        if name is not None:
            leak.told(action, name)
            action.error = leak.LEAKED
            guesses.count(services, action.session, action_id=action.id)
            return False
        action.frames_out += 1
        action.sent += len(message.content)
        return True
    action.frames_in += 1
    scrubber = services.secrets.scrubber
    clean, found = scrubber.after(action.frames_end, message.content)
    if found:
        message.content = clean
        action.scrubbed += found
    action.frames_end = (action.frames_end + clean)[-scrubber.reach :] if scrubber.reach else b""
    action.received += len(clean)
    if action.response is not None:
        action.response.update(clean)
    return True


def drop(flow: http.HTTPFlow) -> None:
    """Keep the newest message of a websocket from going on; a flow without one is left as it is."""
    if flow.websocket is not None and flow.websocket.messages:
        flow.websocket.messages[-1].drop()
