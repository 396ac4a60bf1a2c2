"""Undoing percent encoding (RFC 3986 §2.1) of long texts in pieces.

The library makes an object of each escape, all at once: twenty times the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

PIECE = 65_536


def unquoted(text: bytes) -> bytes:
    """Return the text with its escapes undone; what is none stays."""
    return b"".join(map(unquote_to_bytes, pieces(text, b"%", 3)))


def pieces[T: (str, bytes)](text: T, mark: T, longest: int) -> Iterator[T]:
    """Yield a text in pieces that cut no escape of up to `longest` characters, which begins with the mark."""
    at = 0
    while at < len(text):
        end = at + PIECE
        cut = text.rfind(mark, end - longest + 1, end) if end < len(text) else -1
        end = cut if cut > at else end
        yield text[at:end]
        at = end
