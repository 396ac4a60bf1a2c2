"""The one place that cleans a reply before the agent sees it: headers, then body, buffered or streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from mitmproxy import http

from ghost_addons import relay
from ghost_addons.action import Action
from ghost_addons.record import reply_text
from ghost_addons.relay import Relay
from ghost_core.errors import FailedError
from ghost_core.secret import SecretBytes
from ghost_credentials import charset
from ghost_credentials.decode import Limits
from ghost_credentials.reply import ReplyScrubber
from ghost_credentials.scrub import Scrubber

_BODILESS = frozenset({204, 304})
# `ghwire_` as it is, and its whole characters at each place of a base64 group
_TOKEN_BEGINS = (b"ghwire_", b"Z2h3aXJl", b"dod2lyZV", b"naHdpcmVf", b"676877697265")
_HOP_BY_HOP = frozenset(
    {
        b"proxy-connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authentication-info",
        b"alt-svc",
        b"x-ghost-reason",  # says that a refusal is ours
    }
)


def clean_headers(action: Action, response: http.Response, scrubber: Scrubber) -> None:
    """Scrub every reply header and drop those that end at this hop (RFC 9110 §7.6.1).

    `Alt-Svc` goes too: it invites the client to a connection that bypasses the proxy. So does the mark of
    our own refusals, which an upstream cannot make. A line whose name
    holds a secret is dropped, for no mark can be a name.
    """
    lines = response.headers.fields
    fields = [line for line in lines if line[0].lower() not in _HOP_BY_HOP]
    # One search over all of them; a secret in a reply's header is rare.
    joined = b"\n".join([response.data.reason, *[part for line in fields for part in line]])
    if scrubber.holds(joined) or _may_hold_token(action, joined):
        fields = _clean_lines(action, fields, scrubber)
        response.data.reason = _clean(action, response.data.reason, scrubber)
    elif len(fields) == len(lines):
        return
    response.headers = http.Headers(fields)


def clean_trailers(
    action: Action, response: http.Response, scrubber: Scrubber, *, version: str
) -> None:
    """Scrub what comes after the body; to an HTTP/1 client the engine cannot write any, so it gets none."""
    if response.trailers is None:
        return
    fields = _clean_lines(action, response.trailers.fields, scrubber)
    response.trailers = None if version.startswith("HTTP/1") else http.Headers(fields)


def _clean_lines(
    action: Action, lines: Iterable[tuple[bytes, bytes]], scrubber: Scrubber
) -> list[tuple[bytes, bytes]]:
    """Put marks into values; a line with a secret in its name goes, since a mark is no name."""
    return [
        (name, _clean(action, value, scrubber))
        for name, value in lines
        if _clean(action, name, scrubber) == name
    ]


def _clean(action: Action, data: bytes, scrubber: Scrubber) -> bytes:
    clean, found = scrubber.clean(data)
    action.scrubbed += found
    return hide_token(action, clean)


def hide_token(action: Action, data: bytes) -> bytes:
    """Take the call's own X-Ghost-Token out of what comes back; it would speak for the agent upstream.

    It is made for one call, so its forms are only worked out where its beginning occurs.
    """
    if not _may_hold_token(action, data):
        return data
    clean, found = Scrubber((SecretBytes(action.wire_token),)).clean(data)
    action.scrubbed += found
    return clean


def of_token(action: Action) -> Scrubber | None:
    """Return what takes the call's own token out of what comes in pieces; None where it has none."""
    return Scrubber((SecretBytes(action.wire_token),)) if action.wire_token else None


def _may_hold_token(action: Action, data: bytes) -> bool:
    if not action.wire_token:
        return False
    for form in _TOKEN_BEGINS:  # noqa: SIM110  # a generator would cost as much as the searches
        if form in data:
            return True
    return False


def open_body(
    action: Action,
    response: http.Response,
    current: Callable[[], Scrubber],
    *,
    mode: str,
    limit: int,
) -> None:
    """Prepare to clean the body by `proxy.scrub`; a piece may expand to `limit` bytes.

    A body in a coding that cannot be undone, or in a charset that is not searched, is refused (FailedError
    `body.coding`, `body.charset`), or under `mark` passes as it is and says so in the record. The headers
    of a reply without a body stay.
    """
    framing = response.headers.get("transfer-encoding", "chunked").strip().lower()
    if framing not in {"chunked", "identity"}:
        # The engine unframes chunks and nothing else; a coding below them would hide the body.
        raise FailedError("reply: a transfer coding that cannot be undone", code="body.coding")
    if _has_no_body(action, response):
        return
    coding = response.headers.get("content-encoding", "").encode("latin-1")
    if charset.hides(response.headers.get("content-type", "").encode("latin-1", "replace")):
        if mode != "mark":
            raise FailedError("reply: a charset in which nobody can search", code="body.charset")
        action.flags.append("uninspected")
    try:
        action.scrub = ReplyScrubber(current, coding or None, _limits(limit))
    except FailedError:
        if mode != "mark":
            raise
        action.flags.append("uninspected")
        return
    if coding:
        del response.headers["content-encoding"]


def _has_no_body(action: Action, response: http.Response) -> bool:
    return action.request.method == "HEAD" or response.status_code in _BODILESS


@lru_cache(maxsize=8)
def _limits(piece_bytes: int) -> Limits:
    return Limits(piece_bytes=piece_bytes)


def buffered(action: Action, response: http.Response, *, excerpt: int) -> None:
    """Clean a body that is here as a whole, and commit to head and body as the agent gets them."""
    raw = response.raw_content or b""
    if raw and _has_no_body(action, response):
        response.raw_content = raw = (
            b""  # RFC 9110 §6.4.1: there is none, whatever the upstream sent
        )
    clean = raw
    if action.scrub is not None and raw:
        clean = action.scrub.whole(raw)
        action.scrubbed += action.scrub.count
        clean = hide_token(action, clean)
    if raw:
        response.raw_content = clean
        _frame(response, len(clean))
    commit_head(action, response)
    _account(action, clean, excerpt)


def _frame(response: http.Response, size: int) -> None:
    """Say how long the body is now, if the head does not."""
    headers = response.headers
    if "transfer-encoding" in headers:
        del headers["transfer-encoding"]
    if headers.get_all("content-length") != [str(size)]:
        headers["content-length"] = str(size)


def commit_head(action: Action, response: http.Response) -> None:
    """Begin the commitment to the reply with its head."""
    action.response_head = reply_text(response.status_code, response.headers.fields)
    if action.response is not None:
        action.response.update(action.response_head)


def streaming(action: Action, *, excerpt: int, on_error: Callable[[Exception], None]) -> Relay:
    """Return the callable through which a streamed body passes, scrubbed; see `relay.closing`."""
    scrub = action.scrub
    own = of_token(action)
    token = own.stream() if own else None

    def cleaned(chunk: bytes) -> bytes:
        clean = chunk
        if scrub is not None:
            clean = scrub.feed(chunk) if chunk else scrub.finish()
            action.scrubbed += 0 if chunk else scrub.count
        if token is not None:
            clean = token.feed(clean) + (b"" if chunk else token.finish())
            action.scrubbed += 0 if chunk else token.count
        _account(action, clean, excerpt)
        return clean

    return relay.closing(action.session, cleaned, on_error=on_error)


def _account(action: Action, clean: bytes, excerpt: int) -> None:
    action.received += len(clean)
    if action.response is not None:
        action.response.update(clean)
    room = excerpt - len(action.response_excerpt)
    if room > 0:
        action.response_excerpt += clean[:room]
