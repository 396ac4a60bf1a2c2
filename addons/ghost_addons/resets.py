"""An HTTP/2 client that opens streams and resets them is left (CVE-2023-44487).

Streams that were reset do not count as open, so a single packet can hold thousands of requests, each of which
is judged; nobody else gets a turn meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

from h2.errors import ErrorCodes
from h2.events import Event, RequestReceived, StreamReset
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http._http2 import Http2Server

from ghost_addons import wrapping

RESETS = 100
"""How many streams a client may reset at least; beyond it, half of those that it opened."""
_SEEN = "_ghost_seen"

type Step = Callable[..., Generator[commands.Command, Any, bool]]


def counting(handle: Step) -> Step:
    """Wrap the step that takes a client's event: too many resets end the connection."""

    def handle_h2_event(
        server: Http2Server, event: Event
    ) -> Generator[commands.Command, Any, bool]:
        if isinstance(event, RequestReceived | StreamReset):
            seen = vars(server).setdefault(_SEEN, Counter())
            seen[type(event)] += 1
            if too_many(seen[StreamReset], opened=seen[RequestReceived]):
                yield from server.protocol_error("too many resets", ErrorCodes.ENHANCE_YOUR_CALM)
                return True
        return (yield from handle(server, event))

    return handle_h2_event


def too_many(count: int, *, opened: int) -> bool:
    """Tell whether a client resets more than one that loses interest now and then."""
    return count > max(RESETS, opened // 2)


def install() -> None:
    """Wrap the engine's step, once."""
    wrapping.around(Http2Server, "handle_h2_event", counting)
