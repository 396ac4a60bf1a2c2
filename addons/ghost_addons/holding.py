"""Bodies of unknown length that a gate must see: held up to a limit.

A longer request is refused. A longer reply goes on as a stream, and gates can only flag it. The engine
itself holds such bodies without bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mitmproxy import http
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import HttpStream
from mitmproxy.proxy.layers.http._events import ResponseData

from ghost_addons import stream, wrapping
from ghost_core.errors import DeniedError

UNKNOWN_BYTES = 1_000_000
"""How long a held request body may be that no gate reads and whose head does not say."""

_LIMIT = "ghost.holds"
_TOO_LONG = "ghost.too_long"
_SPILL = "ghost.spill"

type Commands = Iterator[commands.Command]
type Step = Callable[..., Commands]


@dataclass(frozen=True, slots=True)
class Spill:
    """What happens to a held reply beyond `limit` bytes: `begin` makes it a stream."""

    limit: int
    begin: Callable[[], None]


def hold_request(flow: http.HTTPFlow, *, limit: int) -> None:
    """Hold the request body up to so many bytes, where its head does not say how long it is."""
    flow.metadata[_LIMIT] = limit


def exceeds(flow: http.HTTPFlow, size: int) -> bool:
    """Tell whether so many bytes of a request are too many to be held."""
    limit = flow.metadata.get(_LIMIT, UNKNOWN_BYTES)
    return "content-length" not in flow.request.headers and size > int(limit)


def give_up(flow: http.HTTPFlow) -> None:
    """Note that the request body was too long."""
    flow.metadata[_TOO_LONG] = True


def gave_up(flow: http.HTTPFlow) -> bool:
    """Tell whether the request body was too long."""
    return _TOO_LONG in flow.metadata


def hold_reply(flow: http.HTTPFlow, spill: Spill) -> None:
    """Hold the reply up to the limit of the spill."""
    flow.metadata[_SPILL] = spill


def frame(request: http.Request, size: int) -> None:
    """Say how long a held body is, whose head did not; raises DeniedError where it said something else.

    An HTTP/2 client can end a request in its head, whatever length that names (RFC 9113 §8.1.1). Passed on in
    HTTP/1.1, the next request would be read as the body.
    """
    if stream.declared_length(request) not in {None, size}:
        raise DeniedError("the body is not as long as its head says", code="request.malformed")
    if size and "content-length" not in request.headers:
        request.headers.pop("transfer-encoding", None)
        request.headers["content-length"] = str(size)


def spilling(consume: Step) -> Step:
    """Wrap the step that collects a reply: beyond its limit it streams, from its first byte on."""

    def state_consume_response_body(stream: HttpStream, event: object) -> Commands:
        spill = stream.flow.metadata.get(_SPILL)
        if not (isinstance(event, ResponseData) and isinstance(spill, Spill)):
            yield from consume(stream, event)
            return
        if len(stream.response_body_buf) + len(event.data) <= spill.limit:
            yield from consume(stream, event)
            return
        data = bytes(stream.response_body_buf) + event.data
        stream.response_body_buf.clear()
        spill.begin()
        yield from stream.start_response_stream()
        yield from stream.server_state(ResponseData(stream.stream_id, data))

    return state_consume_response_body


def install() -> None:
    """Put the step in the place of the engine's, once."""
    wrapping.around(HttpStream, "state_consume_response_body", spilling)
