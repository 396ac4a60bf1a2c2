"""A reader of HTTP/1.1 requests that takes no liberty: what it accepts, every server reads alike.

Written against RFC 9110 and RFC 9112, and stricter where servers are known to differ. It shares no code
with the engine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

type Lines = tuple[tuple[bytes, bytes], ...]

_FIRST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) (/[!-\"$-~]*) HTTP/1\.([01])\Z")
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): *([^\x00-\x08\x0a-\x1f\x7f]*)\Z")
_LENGTH = re.compile(rb"(?:0|[1-9][0-9]{0,17})\Z")
_SIZE = re.compile(rb"[0-9a-f]{1,8}\Z")
_FRAMING = (b"host", b"content-length", b"transfer-encoding")


class AmbiguousError(Exception):
    """The bytes can be read in more than one way, or are no request."""


@dataclass(frozen=True, slots=True)
class Message:
    """One request; `complete` is False where the bytes end inside its body."""

    method: bytes
    target: bytes
    headers: Lines
    body: bytes
    head: bytes
    complete: bool

    def all(self, name: bytes) -> tuple[bytes, ...]:
        """Every value of a header, in order."""
        return tuple(value for found, value in self.headers if found.lower() == name)


def read(data: bytes) -> tuple[Message | None, bytes]:
    """Read the first request; returns it with what follows, None where its head is not complete.

    Raises AmbiguousError.
    """
    head, mark, rest = data.partition(b"\r\n\r\n")
    if not mark:
        return None, data
    first, *lines = head.split(b"\r\n")
    found = _FIRST.match(first)
    if found is None:
        raise AmbiguousError(f"request line {first!r}")
    headers = tuple(_header(line) for line in lines)
    body, complete, rest = _body(headers, rest, older=found[3] == b"0")
    return Message(found[1], found[2], headers, body, head + mark, complete), rest


def _header(line: bytes) -> tuple[bytes, bytes]:
    found = _LINE.match(line)
    if found is None:
        raise AmbiguousError(f"header line {line!r}")
    return found[1], found[2].strip(b" \t")


def _body(headers: Lines, rest: bytes, *, older: bool) -> tuple[bytes, bool, bytes]:
    values = {name: _single(headers, name) for name in _FRAMING}
    length, coding = values[b"content-length"], values[b"transfer-encoding"]
    if not values[b"host"]:
        raise AmbiguousError("no Host")
    if length is not None and coding is not None:
        raise AmbiguousError("two lengths")
    if coding is not None:
        if coding.lower() != b"chunked" or older:
            raise AmbiguousError(f"transfer coding {coding!r}")
        return _chunks(rest)
    if length is not None and not _LENGTH.match(length):
        raise AmbiguousError(f"length {length!r}")
    size = int(length or b"0")
    return rest[:size], len(rest) >= size, rest[size:]


def _single(headers: Lines, name: bytes) -> bytes | None:
    """Return the one value of a header that frames; spelled with `_`, servers may take it for the same."""
    same = [(found, value) for found, value in headers if _folded(found) == name]
    if any(found.lower() != name for found, _ in same) or len(same) > 1:
        raise AmbiguousError(f"{name!r} in several spellings or lines")
    return same[0][1] if same else None


def _folded(name: bytes) -> bytes:
    return name.lower().replace(b"_", b"-")


def _chunks(rest: bytes) -> tuple[bytes, bool, bytes]:
    body = b""
    while True:
        line, mark, after = rest.partition(b"\r\n")
        if not mark:
            return body, False, b""
        if not _SIZE.match(line):
            raise AmbiguousError(f"chunk size {line!r}")
        size = int(line, 16)
        if len(after) < size + 2:
            return body + after[:size], False, b""
        if after[size : size + 2] != b"\r\n":
            raise AmbiguousError("a chunk is followed by something else, or a trailer came")
        body, rest = body + after[:size], after[size + 2 :]
        if not size:
            return body, True, rest
