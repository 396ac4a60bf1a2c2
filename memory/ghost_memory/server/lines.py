"""Lines of JSON-RPC: cut out of a stream of bytes, and read as messages or as what is wrong with them.

A line that is no message is answered as JSON-RPC asks: -32700 where it is no JSON, -32600 where it is JSON
but no message, with the id if one can be seen. No line can make a reader fail or grow without bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import JSONRPCMessage, JSONRPCNotification
from mcp_types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError

from ghost_memory.limits import plain

__all__ = ["LINE_BYTES", "Oversized", "Refused", "lines", "read", "refusal"]

LINE_BYTES: Final = 4 * 1024 * 1024
NOT_JSON: Final = -32700
NO_MESSAGE: Final = -32600
_CHUNK: Final = 65_536
_ENDS: Final = 512
_DEPTH: Final = 200

_ID_FIRST: Final = re.compile(
    rb'^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")'
)
_ID_LAST: Final = re.compile(rb'[,{]\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*\}\s*$')

type Id = int | str | None


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line that was too long to be kept: both its ends."""

    head: bytes
    tail: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that is no message, and how that is answered."""

    id: Id
    code: int
    message: str


def lines(take: Callable[[int], bytes], *, limit: int = LINE_BYTES) -> Iterator[bytes | Oversized]:
    """Yield each line of a stream; `take` returns the next bytes, none at the end.

    Of a line over the limit only the ends are kept. The last one may lack its line end.
    """
    line = _Line(limit)
    while data := take(_CHUNK):
        *ended, rest = data.split(b"\n")
        for part in ended:
            line.add(part)
            yield line.found()
            line = _Line(limit)
        line.add(rest)
    if line.started:
        yield line.found()


class _Line:
    """One line as it comes in; once it is over the limit, only its ends."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._head: bytes | None = None
        self.started = False

    def add(self, part: bytes) -> None:
        self.started = self.started or bool(part)
        self._kept += part
        if self._head is None and len(self._kept) > self._limit:
            self._head = bytes(self._kept[:_ENDS])
        if self._head is not None:
            del self._kept[:-_ENDS]

    def found(self) -> bytes | Oversized:
        kept = bytes(self._kept)
        return kept if self._head is None else Oversized(self._head, kept)


def read(line: bytes | Oversized) -> list[JSONRPCMessage | Refused]:
    """Return the messages of a line: one, those of a batch, or none where it is blank."""
    if isinstance(line, Oversized):
        return [Refused(_seen_id(line), NO_MESSAGE, f"a line may have {LINE_BYTES} bytes")]
    if not line.strip():
        return []
    try:
        found = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _second_look(line)
    # A notification with an id is a request whose id is none: it waits for an answer.
    odd = isinstance(found, JSONRPCNotification) and b'"id"' in line
    return _second_look(line) if odd else [found]


def refusal(refused: Refused) -> bytes:
    """Return the answer to a line that is no message."""
    error = {"code": refused.code, "message": refused.message}
    return json.dumps({"jsonrpc": "2.0", "id": refused.id, "error": error}).encode()


def _second_look(line: bytes) -> list[JSONRPCMessage | Refused]:
    """Read what a strict reader refused: lone surrogates, broken UTF-8, a byte order mark, a batch."""
    try:
        found = json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return [Refused(None, NOT_JSON, "Parse error: expected one JSON object a line")]
    if isinstance(found, list) and found:
        return [_message(each) for each in found]
    return [_message(found)]


def _message(found: object) -> JSONRPCMessage | Refused:
    try:
        message = jsonrpc_message_adapter.validate_python(_clean(found, _DEPTH), by_name=False)
    except (ValidationError, _TooDeepError):
        message = None
    odd = isinstance(message, JSONRPCNotification) and isinstance(found, dict) and "id" in found
    if message is None or odd:
        return Refused(
            _id_of(found), NO_MESSAGE, "Invalid Request: expected a JSON-RPC 2.0 message"
        )
    return message


class _TooDeepError(Exception):
    """Nested deeper than any call needs."""


def _clean(found: object, depth: int) -> Any:
    """Replace what no store and no client can hold: lone surrogates."""
    if depth == 0:
        raise _TooDeepError
    match found:
        case str():
            return plain(found) if not found.isascii() else found
        case list():
            return [_clean(each, depth - 1) for each in found]
        case dict():
            return {_clean(key, depth - 1): _clean(each, depth - 1) for key, each in found.items()}
        case _:
            return found


def _id_of(found: object) -> Id:
    named = found.get("id") if isinstance(found, dict) else None
    if isinstance(named, bool):
        return None
    if isinstance(named, str):
        return plain(named)
    return named if isinstance(named, int) else None


def _seen_id(line: Oversized) -> Id:
    """Look for the id where clients write it: first or last in the object."""
    seen = _ID_FIRST.search(line.head) or _ID_LAST.search(line.tail)
    if seen is None:
        return None
    try:
        return _id_of({"id": json.loads(seen.group(1))})
    except ValueError:
        return None
