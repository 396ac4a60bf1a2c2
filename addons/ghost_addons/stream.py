"""Which bodies are held and which pass through, and the callable that hashes those that pass."""

from __future__ import annotations

from collections.abc import Callable

from mitmproxy import http

from ghost_addons.action import Action, is_mutation
from ghost_addons.leak import Outflow
from ghost_addons.relay import Relay, closing
from ghost_core.errors import DeniedError
from ghost_hooks import override

HELD_REQUEST_BYTES = 1_000_000
HELD_REPLY_BYTES = 1_000_000
_LIVE_TYPES = (
    "text/event-stream",
    "application/x-ndjson",
    "application/stream+json",
    "application/jsonl",
    "application/grpc",
    "multipart/x-mixed-replace",
    "video/",
    "audio/",
)


def declared_length(message: http.Message) -> int | None:
    """Return Content-Length, or None where the message does not say (chunked, HTTP/2 without it)."""
    text = message.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() else None


def is_form(request: http.Request) -> bool:
    """Tell whether the body is a form, whose `_method` field some servers take for the method."""
    return override.is_form(_kind(request))


def is_multipart(request: http.Request) -> bool:
    """Tell whether the body is a form in parts, as uploads are; its fields can be anywhere in it."""
    return b"multipart/" in _kind(request)


def may_name_method(request: http.Request) -> Callable[[bytes], bool] | None:
    """Return what finds another method in the pieces of a body that passes, None where nobody looks there."""
    if is_multipart(request):
        return override.part_watch()
    untyped = override.may_be_form(request.method, _kind(request))
    return override.form_watch() if untyped else None


def _kind(request: http.Request) -> bytes:
    return override.kind_of(request.headers.fields)


def holds_request(request: http.Request, *, needs_body: bool, limit: int) -> bool:
    """Tell whether the request body is held; what is not held streams.

    A body that a rule must see is held up to `limit` bytes; without such a rule small ones of known length
    are held so that the intent can commit to them. Raises DeniedError `body.too_large` beyond the limit;
    where the head does not say how long the body is, that shows later (`holding`).
    """
    length = declared_length(request)
    if length is None:
        return _holds_unknown_length(request, needs_body=needs_body)
    if needs_body and length > limit:
        raise DeniedError(f"body of {length} bytes, limit {limit}", code="body.too_large")
    return needs_body or length <= HELD_REQUEST_BYTES


def _holds_unknown_length(request: http.Request, *, needs_body: bool) -> bool:
    chunked = "transfer-encoding" in request.headers
    if not chunked and (
        request.http_version.startswith("HTTP/1") or not is_mutation(request.method)
    ):
        return True  # there is no body
    return needs_body


def holds_reply(method: str, response: http.Response, *, needs_reply: bool, limit: int) -> bool:
    """Tell whether the reply is held until its outcome is durable; the rest is relayed as it comes.

    One of unknown length is held for a gate that must see it, unless it is a live stream.
    """
    if method == "HEAD" or response.status_code in (204, 304) or response.status_code < 200:
        return True
    length = declared_length(response)
    live = response.headers.get("content-type", "").lower().startswith(_LIVE_TYPES)
    if length is None:
        return needs_reply and not live
    if needs_reply:
        return length <= limit
    return not live and length <= HELD_REPLY_BYTES


def hashing(
    action: Action,
    outflow: Outflow,
    *,
    on_error: Callable[[Exception], None],
    declared: int | None = None,
) -> Relay:
    """Return the callable through which a streamed request passes; it commits to every byte that goes on.

    One that ends before its declared length is an error: HTTP/2 clients can do that (RFC 9113 §8.1.1), and an
    upstream of HTTP/1.1 would read the next request as the rest. So is one that goes on after the call's
    outcome was entered, since its upstream answered early: no entry would commit to that.
    """
    commitment = action.request_body
    assert commitment is not None
    came = 0

    def committed(chunk: bytes) -> bytes:
        nonlocal came
        came += len(chunk)
        if not chunk and declared not in {None, came}:
            raise DeniedError("the body is not as long as its head says", code="request.malformed")
        passed = outflow.feed(chunk) if chunk else outflow.finish()
        if passed and action.settled:
            raise DeniedError("the call has its outcome already", code="request.late")
        commitment.update(passed)
        action.sent += len(passed)
        return passed

    return closing(action.session, committed, on_error=on_error)


def watching(relay: Relay, *, hit: Callable[[bytes], bool], close: Callable[[], None]) -> Relay:
    """Wrap the callable of a streamed request: from what is hit on nothing passes, and the client is closed.

    `hit` sees each piece once. An empty piece would end a chunked body (RFC 9112 §7.1), and its real end be
    read as a further request, so none is returned.
    """
    ended = False

    def watch(chunk: bytes) -> list[bytes]:
        nonlocal ended
        if not ended and hit(chunk):
            ended = True
            close()
        return [] if ended else relay(chunk)

    return watch


def unframe(request: http.Request, response: http.Response) -> None:
    """Remove the length of a body that will change while it streams, and frame it anew.

    HTTP/1.1 gets chunks (RFC 9112 §7.1), HTTP/1.0 the end of the connection, HTTP/2 its own frames.
    """
    response.headers.pop("content-length", None)
    if request.http_version == "HTTP/1.1":
        response.headers["transfer-encoding"] = "chunked"
    else:
        response.headers.pop("transfer-encoding", None)
