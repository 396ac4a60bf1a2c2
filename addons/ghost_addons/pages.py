"""The answers that the engine writes itself: JSON like ours, without its name and without addresses.

An addon cannot replace the page of an upstream failure, so the function that writes it is replaced.
"""

from __future__ import annotations

from mitmproxy import http
from mitmproxy.net.http import http1
from mitmproxy.proxy.layers.http import _http1, _http2

from ghost_addons.refusal import Refusal
from ghost_core.errors import FailedError

_CODES = {
    400: ("request.malformed", "the request is malformed or ambiguous"),
    413: ("body.too_large", "the body is too large"),
    431: ("request.head_too_large", "the head of the request is too large"),
    502: ("upstream.failed", "the upstream could not be reached, or broke off"),
    504: ("upstream.timeout", "the upstream did not answer in time"),
}


def body_of(status: int, _message: str = "") -> bytes:
    """Return the JSON body for a status; the engine's message may name addresses and is left out."""
    code, message = _CODES.get(status, ("proxy.error", "the call could not be completed"))
    return Refusal(status, code, message, stage="upstream", rule="upstream").body()


def answer_of(status: int, message: str = "") -> bytes:
    """Return a whole HTTP/1.1 answer that closes the connection."""
    headers = http.Headers(content_type="application/json", connection="close")
    page = http.Response.make(status, body_of(status, message), headers)
    return bytes(http1.assemble_response(page))


def install() -> None:
    """Put our pages in the place of the engine's."""
    for module, name, ours in (
        (_http1, "make_error_response", answer_of),
        (_http2, "format_error", body_of),
    ):
        if not callable(getattr(module, name, None)):
            raise FailedError(f"the engine has no {name} any more", code="proxy.engine")
        setattr(module, name, ours)
