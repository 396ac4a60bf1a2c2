"""Requests that the engine's parsers could not read reach the guard too, so that their refusal is entered.

The engine answers them itself and tells nobody (RFC 9112 §3, RFC 9113 §5.4). Here it hands on a request that
stands in for what was not read; the engine refuses that one like any other that is malformed, and enters it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from mitmproxy import http
from mitmproxy.net.http import url
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import HTTPMode, HttpStream
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestHeaders
from mitmproxy.proxy.layers.http._http2 import Http2Server

from ghost_addons import pages, wrapping
from ghost_addons.refusal import Refusal

type Commands = Generator[commands.Command, object, None]

_SCHEME = b"unread"  # the engine takes no request of a scheme that it does not know
_NO_STREAM = 0  # RFC 9113 §5.1.1: the connection's own, no request has it


class Unread(http.Request):
    """Stands in for a request that could not be read; `status` is what its client was answered."""

    status: int


def unread(status: int, method: bytes = b"") -> Unread:
    """Return the stand-in of a request whose client was, or will be, answered with this status."""
    found = Unread(
        host="",
        port=0,
        method=method,
        scheme=_SCHEME,
        authority=b"",
        path=b"",
        http_version=b"",
        headers=http.Headers(),
        content=None,
        trailers=None,
        timestamp_start=0,
        timestamp_end=None,
    )
    found.status = status
    return found


def told(stream: int, status: int) -> ReceiveHttp:
    """Return the command that brings a refusal of the parser before the guard."""
    return ReceiveHttp(RequestHeaders(stream, unread(status), end_stream=True))


def refusal_of(request: http.Request) -> Refusal:
    """Return the refusal of a request that the engine took for malformed, read or not."""
    status = request.status if isinstance(request, Unread) else 400
    return replace(pages.refusal(status), stage="authority", rule="grammar")


def broke(flow: http.HTTPFlow) -> bool:
    """Tell whether the chunks of a body were broken before anybody answered; one cut off is not."""
    message = str(flow.error.msg) if flow.error and flow.response is None else ""
    return message.startswith("HTTP/1 protocol error") and "peer closed" not in message


def telling(fail: Callable[..., Commands]) -> Callable[..., Commands]:
    """Wrap the step that ends an HTTP/2 connection whose frames or heads are no HTTP/2."""

    @functools.wraps(fail)
    def protocol_error(server: Http2Server, *args: Any, **options: Any) -> Commands:
        yield from fail(server, *args, **options)
        yield told(_NO_STREAM, 400)

    return protocol_error


def aiming(begin: Callable[..., Commands]) -> Callable[..., Commands]:
    """Wrap the step that looks where a request to the proxy itself goes: one that does not say is unread."""

    @functools.wraps(begin)
    def state_wait_for_request_headers(stream: HttpStream, event: RequestHeaders) -> Commands:
        if stream.mode is HTTPMode.regular and _is_aimless(event.request):
            request = unread(400, event.request.data.method)
            event = replace(event, request=request, end_stream=True)
        yield from begin(stream, event)

    return state_wait_for_request_headers


def _is_aimless(request: http.Request) -> bool:
    """Tell whether neither target nor Host name a place that the engine could read."""
    if request.host or request.method == "CONNECT" or isinstance(request, Unread):
        return False
    try:
        url.parse_authority(request.host_header or "", check=True)
    except ValueError:
        return True
    return False


_STEPS: tuple[tuple[type, str, Callable[[Callable[..., Commands]], Callable[..., Commands]]], ...]
_STEPS = (
    (Http2Server, "protocol_error", telling),
    (HttpStream, "state_wait_for_request_headers", aiming),
)


def install() -> None:
    """Wrap the engine's steps, once."""
    for owner, name, wrap in _STEPS:
        wrapping.around(owner, name, wrap)
