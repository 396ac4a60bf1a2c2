"""Websockets: judged as the GET of their path, relayed message by message, scrubbed, counted."""

from __future__ import annotations

import re

from mitmproxy import http, websocket

from ghost_addons import guesses, leak, scrub
from ghost_addons.action import Action
from ghost_addons.services import Services
from ghost_credentials.scrub import Scrubber
from ghost_hooks.gates import beside

VERSION = "13"  # RFC 6455 §4.1
# RFC 7692 §7.1, as far as the engine undoes it; it dies on other windows, and passes other extensions on.
_EXTENSIONS = re.compile(
    r"(?:permessage-deflate(?:\s*;\s*(?:(?:client|server)_no_context_takeover"
    r"|(?:client|server)_max_window_bits\s*=\s*(?:9|1[0-5])))*)?"
)


def agreed(request: http.Request, response: http.Response) -> bool:
    """Tell whether a 101 begins a websocket, by the same marks as the engine (RFC 6455 §4.1).

    One with an extension that cannot be undone is none: nobody could look into its messages.
    """
    upgrade: str = response.headers.get("upgrade", "")
    version: str = request.headers.get("sec-websocket-version", "")
    extensions: str = response.headers.get("sec-websocket-extensions", "")
    known = _EXTENSIONS.fullmatch(extensions.strip()) is not None
    return upgrade.lower() == "websocket" and version == VERSION and known


def begin(action: Action) -> None:
    """Prepare for messages: they pass as they come, so gates see the reply without them."""
    action.streamed_reply = True
    action.own = scrub.of_token(action)


async def relay(services: Services, action: Action, flow: http.HTTPFlow) -> bool:
    """Clean and count the newest message; returns False where the connection has to end.

    That is when the session has ended or is stopped, or when a client's message holds a secret of ours;
    what came behind that one in the same breath does not go on either.

    The engine keeps every message for the connection's life; only the newest is left, so memory stays flat.
    Of a secret that is split over messages the beginning has gone already, and the rest is taken out. A large
    message is searched beside the loop; meanwhile the engine hands on no other of this websocket.
    """
    data = flow.websocket
    assert data is not None
    message = data.messages[-1]
    data.messages[:-1] = []
    passed = _from_client if message.from_client else _from_upstream
    if _goes_on(action) and await passed(services, action, message) and _goes_on(action):
        return True
    message.drop()
    return False


def _goes_on(action: Action) -> bool:
    return not action.error and not action.session.quarantined and action.session.alive()


async def _from_client(
    services: Services, action: Action, message: websocket.WebSocketMessage
) -> bool:
    content = message.content
    name = await beside(content, lambda: services.secrets.owner(content))
    if name is not None:
        leak.told(action, name)
        action.error = leak.LEAKED
        guesses.count(services, action.session, action_id=action.id)
        return False
    action.frames_out += 1
    action.sent += len(content)
    return True


async def _from_upstream(
    services: Services, action: Action, message: websocket.WebSocketMessage
) -> bool:
    content = message.content
    scrubbers = [services.secrets.scrubber, *([action.own] if action.own else [])]
    message.content = await beside(content, lambda: _clean(action, content, scrubbers))
    action.frames_in += 1
    action.received += len(message.content)
    if action.response is not None:
        action.response.update(message.content)
    return True


def _clean(action: Action, data: bytes, scrubbers: list[Scrubber]) -> bytes:
    """Return a message of the upstream without secrets, and without the rest of one that began before it."""
    for each in scrubbers:
        data, found = each.after(action.frames_end, data)
        action.scrubbed += found
    reach = max(each.reach for each in scrubbers)
    action.frames_end = (action.frames_end + data)[-reach:] if reach else b""
    return data


def drop(flow: http.HTTPFlow) -> None:
    """Keep the newest message of a websocket from going on; a flow without one is left as it is."""
    if flow.websocket is not None and flow.websocket.messages:
        flow.websocket.messages[-1].drop()
