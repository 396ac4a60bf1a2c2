"""The forms in which a secret can come back: as it is, in one case, base64, percent, escapes, hex, UTF-16/32.

Out of reach are mixtures (one character escaped, the next not, where no encoder of the list below
does so), base64 broken by line ends, and encodings of encodings but for JSON inside JSON. Of a
base64 text the part that the secret alone decides is found; at each end up to 6 bits of its first
or last byte stay. A secret under `MIN_ENCODED_BYTES` is searched as it is only: its other forms
would be so short that they occur by chance.
"""

from __future__ import annotations

import base64
import html
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
    found = {secret, *_one_case(secret), *_base64(secret), *_percent(secret), *_hex(secret)}
    found |= {*_json(secret), *_html(secret), *_wide(secret)}
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


def _one_case(secret: bytes) -> Iterator[bytes]:
    text = _text(secret)
    yield from (secret.lower(), secret.upper(), text.lower().encode(), text.upper().encode())


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


def _text(secret: bytes) -> str:
    try:
        return secret.decode("utf-8")
    except UnicodeDecodeError:
        return secret.decode("latin-1")


def _json(secret: bytes) -> Iterator[bytes]:
    text = _text(secret)
    for ascii_only in (True, False):
        plain = json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode()
        # "\/" is PHP's, & < > and ' as \u00XX are what HTML-safe encoders write
        safe = plain
        for mark in (b"&", b"<", b">", b"'", b"+", b"="):
            safe = safe.replace(mark, b"\\u%04X" % mark[0])
        for form in (plain, plain.replace(b"/", b"\\/"), safe):
            for written in (form, _lower_hex(form, mark=b"\\u", digits=4)):
                yield written
                # a JSON text that is a string of another
                yield written.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    units = text.encode("utf-16-be")
    full = b"".join(b"\\u" + units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
    yield full
    yield _upper_hex(full)


def _hex(secret: bytes) -> Iterator[bytes]:
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield b"".join(b"\\x%02x" % byte for byte in secret)
    yield b"".join(b"\\x%02X" % byte for byte in secret)


def _html(secret: bytes) -> Iterator[bytes]:
    """Yield what error pages write: named references, and both numbers of an apostrophe (HTML §13.5)."""
    written = html.escape(_text(secret)).encode()
    yield written
    yield written.replace(b"&#x27;", b"&#39;").replace(b"&quot;", b"&#34;")
    yield html.escape(_text(secret), quote=False).encode()


def _wide(secret: bytes) -> Iterator[bytes]:
    text = _text(secret)
    if text.isascii():
        for gap in (b"\0", b"\0\0\0"):
            yield gap.join(b"%c" % byte for byte in secret)  # it is in both byte orders
        return
    for coding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        yield text.encode(coding)


def _lower_hex(form: bytes, *, mark: bytes, digits: int) -> bytes:
    first, *rest = form.split(mark)
    return mark.join((first, *(part[:digits].lower() + part[digits:] for part in rest)))


def _upper_hex(full: bytes) -> bytes:
    return full.upper().replace(b"\\U", b"\\u")
