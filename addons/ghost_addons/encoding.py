"""Undoing the content coding of a request body, so that gates judge what the upstream will read.

Sent is what was judged: many servers pass a coding over and read the bytes as they came, and there is room
for a form in the comment of a gzip header.
"""

from __future__ import annotations

from functools import lru_cache

from mitmproxy import http

from ghost_core.errors import DeniedError, GhostError
from ghost_credentials.decode import Limits, decoder
from ghost_hooks.turns import aside

LARGE_BYTES = 4_000
"""From here on a body is decoded beside the loop: it may expand a thousand times."""
FREE_BYTES = 1_000_000
"""What a body may expand to, whatever its size was; beyond it the ratio of the decoder holds."""


def is_encoded(request: http.Request) -> bool:
    """Tell whether the body has a coding other than identity (RFC 9110 §8.4)."""
    return any(coding not in {b"", b"identity"} for coding in _codings(request))


def require_none(request: http.Request) -> None:
    """Refuse a coded body that passes as it comes; raises DeniedError `params.encoding`."""
    if is_encoded(request):
        raise _undecodable("a form that is too long to be held may have no content coding")


async def decoded(request: http.Request, body: bytes, *, limit: int) -> bytes:
    """Return what the body decodes to, at most `limit` bytes.

    Raises: DeniedError `params.encoding` for an unknown coding, two of them, a body that does not
    decode as a whole and in one way, or one that expands too far.
    """
    if len(body) > LARGE_BYTES:
        return await aside(lambda: _decoded(request, body, limit))
    return _decoded(request, body, limit)


def replace(request: http.Request, body: bytes) -> None:
    """Put the decoded body in the place of the coded one."""
    del request.headers["content-encoding"]
    request.raw_content = body
    request.headers["content-length"] = str(len(body))


def _decoded(request: http.Request, body: bytes, limit: int) -> bytes:
    inner = decoder(b",".join(_codings(request)), _limits(limit))
    if inner is None:
        raise _undecodable("expected one of gzip, deflate, br, zstd under a body rule")
    try:
        return inner.feed(body) + inner.finish()
    except GhostError as error:
        raise _undecodable(error.message.removeprefix("body: ")) from error


@lru_cache(maxsize=8)
def _limits(total_bytes: int) -> Limits:
    return Limits(total_bytes=total_bytes, piece_bytes=FREE_BYTES, strict=True)


def _codings(request: http.Request) -> list[bytes]:
    values = (
        value for name, value in request.headers.fields if name.lower() == b"content-encoding"
    )
    return [each.strip().lower() for value in values for each in value.split(b",")]


def _undecodable(why: str) -> DeniedError:
    return DeniedError(
        f"body: {why}",
        code="params.encoding",
        hint="send the body without Content-Encoding",
    )
