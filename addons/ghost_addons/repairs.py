"""What the engine does not do right for us, mended in place.

It dies on trailers in HTTP/1 and leaves the client hanging; it keeps in memory whatever a client goes on
sending after its request was refused, and all of a body of unknown length; it sends an HTTP/2 body of
unknown length to an HTTP/1 upstream without saying where it ends, so that the upstream reads the body as
further requests; it asks for the body of a request that was refused by its head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import override

import h11
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer
from mitmproxy import http
from mitmproxy.flow import Error
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import HttpStream, SendHttp, _http1
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook

from ghost_addons import backlog, frames, heads, holding, resets, unread, wrapping
from ghost_core.errors import FailedError

type Commands = Iterator[commands.Command]
type Step = Callable[..., Commands]


class TrailerlessReader(ChunkedReader):
    """Reads a chunked body and discards its trailers, as RFC 9110 §6.5.1 allows.

    Lines that it waits for have the limit of a head (RFC 9112 §7.1.1).
    """

    @override
    def __call__(self, buf: ReceiveBuffer) -> h11.Data | h11.EndOfMessage | None:
        found = super().__call__(buf)
        if found is None and len(buf) > heads.HEAD_BYTES:
            raise h11.RemoteProtocolError("a line or the trailers of the body are too long")
        return h11.EndOfMessage() if isinstance(found, h11.EndOfMessage) else found


def dropping(consume: Step) -> Step:
    """Wrap the step that collects a request body: limited, and that of a refused request is dropped."""

    def state_consume_request_body(stream: HttpStream, event: object) -> Commands:
        if isinstance(event, RequestData) and stream.flow.response is not None:
            return
        if isinstance(event, RequestData) and _exceeds(stream, event):
            yield from _refuse_body(stream)
            return
        yield from consume(stream, event)

    return state_consume_request_body


def unasked(wait: Step) -> Step:
    """Wrap the step that waits for a head: a client that asks first and is refused need not send its body.

    Its answer ends the connection, since nobody knows whether the body still comes (RFC 9110 §10.1.1).
    """

    def state_wait_for_request_headers(stream: HttpStream, event: RequestHeaders) -> Commands:
        asks = asks_first(event.request)
        yield from wait(stream, event)
        if asks and stream.flow.response is not None:
            yield from stream.client_state(RequestEndOfMessage(stream.stream_id))
            stream.client_state = (
                stream.state_errored
            )  # what a client sends all the same is nothing
            yield commands.CloseConnection(stream.context.client)

    return state_wait_for_request_headers


def asks_first(request: http.Request) -> bool:
    """Tell whether the client sends its body only once it is told to."""
    older = request.is_http10 or request.is_http11
    return older and request.headers.get("expect", "").lower() == "100-continue"


def _exceeds(stream: HttpStream, event: RequestData) -> bool:
    return holding.exceeds(stream.flow, len(stream.request_body_buf) + len(event.data))


def _refuse_body(stream: HttpStream) -> Commands:
    """Answer with 413 and forget what came, as the engine does beyond a limit for all bodies."""
    reason = "the body of the client is too long to be held"
    stream.request_body_buf.clear()
    stream.client_state = stream.state_errored
    stream.flow.error = Error(reason)
    holding.give_up(stream.flow)
    yield HttpErrorHook(stream.flow)
    error = ResponseProtocolError(stream.stream_id, reason, ErrorCode.REQUEST_TOO_LARGE)
    yield SendHttp(error, stream.context.client)
    stream.flow.live = False


def framed(send: Step) -> Step:
    """Wrap the step that sends to an HTTP/1 upstream: a body of unknown length is chunked (RFC 9112 §6.1)."""

    def send_framed(client: object, event: object) -> Commands:
        if isinstance(event, RequestHeaders) and _lacks_length(event):
            request = event.request.copy()
            request.headers["transfer-encoding"] = "chunked"
            event = replace(event, request=request)
        yield from send(client, event)

    return send_framed


def _lacks_length(event: RequestHeaders) -> bool:
    request = event.request
    newer = request.is_http2 or request.is_http3
    return newer and not event.end_stream and "content-length" not in request.headers


def install() -> None:
    """Put our parts in the place of the engine's, once."""
    heads.install()
    frames.install()
    backlog.install()
    resets.install()
    holding.install()
    unread.install()
    if not hasattr(_http1, "ChunkedReader"):
        raise FailedError("the engine has no body reader any more", code="proxy.engine")
    setattr(_http1, "ChunkedReader", TrailerlessReader)  # noqa: B010  # it is not ours to assign
    wrapping.around(HttpStream, "state_consume_request_body", dropping)
    wrapping.around(HttpStream, "state_wait_for_request_headers", unasked)
    wrapping.around(_http1.Http1Client, "send", framed)
