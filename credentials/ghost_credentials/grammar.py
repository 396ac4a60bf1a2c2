"""What may stand in a header: names of RFC 9110 §5.1, values of §5.5 without anything that breaks a line."""

from __future__ import annotations

import re

from ghost_core.errors import ConfigError

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_BREAKS = "\u0085\u2028\u2029"


def fault(value: bytes) -> str | None:
    """Return why the bytes must not become a header value, or None; the reason never quotes them."""
    if not value:
        return "is empty"
    if _CONTROL.search(value):
        return "holds a line break or another control character"
    text = _text(value)
    if any(mark in text for mark in _BREAKS):
        return "holds a Unicode line break"
    if text != text.strip():
        return "begins or ends with a blank"
    return None


def require_value(value: bytes, *, subject: str) -> None:
    """Check the bytes as a header value; raises ConfigError `credential.malformed` naming the subject."""
    reason = fault(value)
    if reason is not None:
        raise ConfigError(f"{subject}: the secret {reason}", code="credential.malformed")


def is_token(name: str) -> bool:
    """Tell whether the text can name a header."""
    return _TOKEN.match(name) is not None


def _text(value: bytes) -> str:
    # what is not UTF-8 is read as Latin-1, where 0x85 is the same line break
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
