"""The forms in which a secret can come back: as it is, base64, percent, JSON escapes, hex.

Out of reach are mixtures (one character escaped, the next not, where no encoder of the list below
does so), base64 broken by line ends, and encodings of encodings. Of a base64 text the part that the
secret alone decides is found; at each end up to 6 bits of its first or last byte stay. A secret
under `MIN_ENCODED_BYTES` is searched as it is only: its encoded forms would be so short that they
occur by chance.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

MIN_ENCODED_BYTES = 8

# what the usual encoders leave alone: RFC 3986 unreserved, paths, encodeURIComponent, encodeURI
_PERCENT_SAFE = ("", "/", "!*'()", ";,/?:@&=+$-_.!~*'()#")


def needles(secret: bytes) -> tuple[bytes, ...]:
    """Return every form of a secret that is searched for, longest first; none for an empty one."""
    if len(secret) < MIN_ENCODED_BYTES:
        return (secret,) if secret else ()
    found = {secret, *_base64(secret), *_percent(secret), *_json(secret), *_hex(secret)}
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


def _base64(secret: bytes) -> Iterator[bytes]:
    # a secret begins at one of three places in a group of three bytes; only whole characters are its own
    for phase in range(3):
        first, last = -(-8 * phase // 6), 8 * (phase + len(secret)) // 6
        padded = bytes(phase) + secret
        yield base64.b64encode(padded)[first:last]
        yield base64.urlsafe_b64encode(padded)[first:last]


def _percent(secret: bytes) -> Iterator[bytes]:
    full = b"".join(b"%%%02X" % byte for byte in secret)
    minimal = [quote(secret, safe=safe).encode() for safe in _PERCENT_SAFE]
    for form in (full, *minimal, quote_plus(secret).encode()):
        yield form
        yield _lower_hex(form, mark=b"%", digits=2)


def _json(secret: bytes) -> Iterator[bytes]:
    try:
        text = secret.decode("utf-8")
    except UnicodeDecodeError:
        text = secret.decode("latin-1")
    for ascii_only in (True, False):
        plain = json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode()
        # "\/" is PHP's, & < > and ' as \u00XX are what HTML-safe encoders write
        safe = plain
        for mark in (b"&", b"<", b">", b"'", b"+", b"="):
            safe = safe.replace(mark, b"\\u%04X" % mark[0])
        for form in (plain, plain.replace(b"/", b"\\/"), safe):
            yield form
            yield _lower_hex(form, mark=b"\\u", digits=4)
    units = text.encode("utf-16-be")
    full = b"".join(b"\\u" + units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
    yield full
    yield _upper_hex(full)


def _hex(secret: bytes) -> Iterator[bytes]:
    yield secret.hex().encode()
    yield secret.hex().upper().encode()


def _lower_hex(form: bytes, *, mark: bytes, digits: int) -> bytes:
    first, *rest = form.split(mark)
    return mark.join((first, *(part[:digits].lower() + part[digits:] for part in rest)))


def _upper_hex(full: bytes) -> bytes:
    return full.upper().replace(b"\\U", b"\\u")
