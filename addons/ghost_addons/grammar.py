"""The grammar of a head, narrower than HTTP allows: no server may read it in another way than we do."""

from __future__ import annotations

import re

from mitmproxy import http

from ghost_core.errors import DeniedError
from ghost_core.header_name import folded

LINES = 1000
"""How many lines a head may have; each is looked at many times."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_FRAMING = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
_HYPHENATED = _FRAMING | {b"content-encoding"}
_NAME_BYTES = 256  # no header has a longer one; names are remembered by what reads them
_LENGTH_DIGITS = 18  # more do not fit into 63 bits, and wrap around elsewhere (RFC 9110 §8.6)


def require_plain(flow: http.HTTPFlow) -> None:
    """Demand a version that is spoken here and a head with one reading.

    Raises: DeniedError `request.malformed`.
    """
    _require_version(flow)
    _require_plain(flow.request)


def _require_version(flow: http.HTTPFlow) -> None:
    """Refuse a version that the connection does not speak: it would pass on what nobody understands."""
    spoken = {"HTTP/2.0"} if flow.client_conn.alpn == b"h2" else {"HTTP/1.0", "HTTP/1.1"}
    if flow.request.http_version not in spoken:
        raise DeniedError("the version of HTTP is another than spoken", code="request.malformed")


def _require_plain(request: http.Request) -> None:
    """Refuse a head that another server may read in another way than we do.

    RFC 9110 §5.5 (values), §9.1 (methods), §10.1.1 (expectations), RFC 9112 §6.1 (codings).
    """
    if request.data.method != request.method.encode("ascii", "replace"):
        raise DeniedError("a method is written in capitals", code="request.malformed")
    if len(request.headers.get_all("content-length")) > 1:
        raise DeniedError("there is more than one length", code="request.malformed")
    if len(request.headers.fields) > LINES:
        raise DeniedError("there are too many headers", code="request.malformed")
    for name, value in request.headers.fields:
        if len(name) > _NAME_BYTES:
            raise DeniedError("the name of a header is too long", code="request.malformed")
        if _CONTROLS.search(value):
            raise DeniedError("a header value holds a control character", code="request.malformed")
        if folded(name) in _HYPHENATED:
            _require_framing(name.lower(), value.lower())


def _require_framing(name: bytes, value: bytes) -> None:
    """Refuse a line about the frame of the message that some servers pass over and others obey."""
    if name not in _HYPHENATED:  # with `_`, which CGI and its heirs read as `-`
        raise DeniedError(
            "Host, lengths and codings are written with a hyphen", code="request.malformed"
        )
    if name == b"content-length" and not (value.isdigit() and len(value) <= _LENGTH_DIGITS):
        raise DeniedError("the length is no number of digits", code="request.malformed")
    if name == b"transfer-encoding" and value != b"chunked":
        raise DeniedError("the only transfer coding is chunked", code="request.malformed")
    if name == b"expect" and value != b"100-continue":
        raise DeniedError("the only expectation is 100-continue", code="request.malformed")
