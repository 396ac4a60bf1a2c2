"""The answers that the engine writes itself: JSON like ours, without its name and without addresses.

An addon cannot replace the page of an upstream failure, so what writes it is replaced. In HTTP/2 the engine
would also name itself, call the page HTML, and send one to HEAD (RFC 9110 §9.3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from h2.events import RequestReceived
from mitmproxy import http
from mitmproxy.net.http import http1
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._events import ResponseProtocolError
from mitmproxy.proxy.layers.http._http2 import Http2Server

from ghost_addons import wrapping
from ghost_addons.refusal import Refusal
from ghost_core.errors import FailedError

type Steps[Result] = Generator[commands.Command, object, Result]
type Step[Result] = Callable[[Http2Server, object], Steps[Result]]

_BAD_GATEWAY = 502
_UNVERIFIED = "Certificate verify failed"  # in the engine's message
_UNKNOWN = ("issuer", "self-signed")  # not one that is expired or bears another name
_AUTHORITY = "a human can name the authority that signed it: proxy.upstream_ca, a PEM file"
_CODES = {
    400: ("request.malformed", "the request is malformed or ambiguous"),
    413: ("body.too_large", "the body is too large"),
    431: ("request.head_too_large", "the head of the request is too large"),
    502: ("upstream.failed", "the upstream could not be reached, or broke off"),
    504: ("upstream.timeout", "the upstream did not answer in time"),
}


def refusal(status: int, said: str = "") -> Refusal:
    """Return what stands in for the page of the engine, whose message may name addresses.

    An authority of one's own is what a first try most often lacks, so that alone is told apart.
    """
    code, message = _CODES.get(status, ("proxy.error", "the call could not be completed"))
    hint = ""
    if status == _BAD_GATEWAY and _UNVERIFIED in said:
        message = "the upstream's certificate could not be verified"
        hint = _AUTHORITY if any(each in said for each in _UNKNOWN) else ""
    return Refusal(status, code, message, stage="upstream", rule="upstream", hint=hint)


def answer_of(status: int, said: str = "") -> bytes:
    """Return a whole HTTP/1.1 answer that closes the connection."""
    ours = refusal(status, said)
    headers = http.Headers([*ours.headers(), (b"connection", b"close")])
    page = http.Response.make(status, ours.body(), headers)
    return bytes(http1.assemble_response(page))


def noting(handle: Step[bool]) -> Step[bool]:
    """Wrap the step that reads HTTP/2 frames: a stream remembers that it was asked by HEAD."""

    def handle_h2_event(server: Http2Server, event: object) -> Steps[bool]:
        if isinstance(event, RequestReceived) and (b":method", b"HEAD") in (event.headers or ()):
            stream = server.h2_conn.streams.get(event.stream_id)
            if stream is not None:  # else a reset came with the same bytes, and it is over
                stream.request_method = b"HEAD"
        return (yield from handle(server, event))

    return handle_h2_event


def answering(handle: Step[None]) -> Step[None]:
    """Wrap the step that writes HTTP/2 frames: a failure that can still be answered has our page."""

    def _handle_event(server: Http2Server, event: object) -> Steps[None]:
        status = _answerable(server, event) if isinstance(event, ResponseProtocolError) else None
        if isinstance(event, ResponseProtocolError) and status is not None:
            _answer(server, event.stream_id, refusal(status, event.message))
            yield commands.SendData(server.conn, server.h2_conn.data_to_send())
        else:
            yield from handle(server, event)

    return _handle_event


def _answerable(server: Http2Server, event: ResponseProtocolError) -> int | None:
    """Return the status to answer with; None where the answer began or the stream is over."""
    if not server.is_open_for_us(event.stream_id):
        return None
    stream = server.h2_conn.streams[event.stream_id]
    return None if stream.state_machine.headers_sent else event.code.http_status_code()


def _answer(server: Http2Server, stream: int, ours: Refusal) -> None:
    bodiless = server.h2_conn.streams[stream].request_method == b"HEAD"
    head = [(b":status", b"%d" % ours.status), *ours.headers()]
    server.h2_conn.send_headers(stream, head, end_stream=bodiless)
    if not bodiless:
        server.h2_conn.send_data(stream, ours.body(), end_stream=True)


def install() -> None:
    """Put our pages in the place of the engine's, once."""
    if not callable(getattr(_http1, "make_error_response", None)):
        raise FailedError("the engine has no make_error_response any more", code="proxy.engine")
    setattr(_http1, "make_error_response", answer_of)  # noqa: B010  # not ours to assign
    wrapping.around(Http2Server, "handle_h2_event", noting)
    wrapping.around(Http2Server, "_handle_event", answering)
