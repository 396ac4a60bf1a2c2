"""Content codings (RFC 9110 §8.4), undone piece by piece, so that a body can be scrubbed or judged.

Known are identity and those of `codings`; two codings on top of each other are not. Limits stop bombs
before their output is built.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from ghost_core.errors import FailedError, LimitError
from ghost_credentials.codings import (
    BROKEN,
    ENGINES,
    Engine,
    deflate,
    malformed,
    wrapped_deflate,
)

_STEP_BYTES: Final = 1 << 16
_LIST_BYTES: Final = 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a body may expand, bytes.

    A body of known size has `total_bytes`. A stream (None) may be of any length, but none of its
    pieces may become more than `piece_bytes`. Past `piece_bytes` of output, `ratio` bounds it to
    so many times the input in both cases.

    `strict` is for what a gate judges and a server decodes once more: one stream, and deflate in the
    form of its RFC only, so that both read the same.
    """

    total_bytes: int | None = None
    piece_bytes: int = 16_000_000
    ratio: int = 250
    strict: bool = False


class Decoder(Protocol):
    """Undoes one coding of one body."""

    def feed(self, data: bytes) -> bytes:
        """Take a piece; raises FailedError `body.malformed`, LimitError `body.expands`."""
        ...

    def finish(self) -> bytes:
        """Return the rest; raises FailedError `body.truncated` if the body ended too early."""
        ...


class Identity:
    """No coding: bytes pass, up to the total limit."""

    def __init__(self, limits: Limits) -> None:
        self._meter = _Meter(limits)

    def feed(self, data: bytes) -> bytes:
        """Pass a piece."""
        self._meter.took(len(data))
        self._meter.gave(len(data))
        return data

    def finish(self) -> bytes:
        """Return nothing."""
        return b""


class Expander:
    """Runs the engine of a coding over a body of one or more streams, under the limits."""

    def __init__(
        self, make: Callable[[bytes], Engine], limits: Limits, *, first_bytes: int
    ) -> None:
        self._make = make
        self._meter = _Meter(limits)
        self._streams_left = 1 if limits.strict else sys.maxsize
        self._first_bytes = first_bytes
        self._waiting = b""
        self._engine: Engine | None = None

    def feed(self, data: bytes) -> bytes:
        """Take a piece and return what it expands to."""
        self._meter.took(len(data))
        data, self._waiting = self._waiting + data, b""
        parts: list[bytes] = []
        while data:
            if self._engine is None:
                if len(data) < self._first_bytes:
                    self._waiting = data
                    break
                if not self._streams_left:
                    raise malformed("goes on after its end")
                self._streams_left -= 1
                self._engine = self._make(data)
            data = self._run(self._engine, data, parts)
        return b"".join(parts)

    def finish(self) -> bytes:
        """Return nothing, if the last stream is complete or there was none."""
        if self._engine is not None or self._waiting:
            raise FailedError("body: ended before its content coding did", code="body.truncated")
        return b""

    def _run(self, engine: Engine, data: bytes, parts: list[bytes]) -> bytes:
        """Expand data to the end of the stream or of the data; return what belongs to the next stream."""
        try:
            while out := engine.step(data, _STEP_BYTES):
                self._meter.gave(len(out))
                parts.append(out)
                data = b""
        except BROKEN as error:
            raise malformed("cannot be decoded") from error
        if not engine.ended:
            return b""
        self._engine = None
        return engine.unused


class _Meter:
    """Counts a body's bytes on both sides."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._taken = 0
        self._given = 0
        self._piece = 0

    def took(self, size: int) -> None:
        self._taken += size
        self._piece = 0

    def gave(self, size: int) -> None:
        limits = self._limits
        self._given += size
        self._piece += size
        if limits.total_bytes is None:
            if self._piece > max(limits.piece_bytes, self._taken):
                raise _expands(f"{limits.piece_bytes} bytes for one piece")
        elif self._given > limits.total_bytes:
            raise _expands(f"{limits.total_bytes} bytes")
        if self._given > limits.piece_bytes and self._given > limits.ratio * self._taken:
            raise _expands(f"{limits.ratio} times its size")


def decoder(content_encoding: bytes | None, limits: Limits | None = None) -> Decoder | None:
    """Return what undoes a `Content-Encoding`; None for an unknown coding, or two of them."""
    limits = limits or Limits()
    if not content_encoding:
        return Identity(limits)
    codings = [each.strip().lower() for each in content_encoding.split(b",")]
    codings = [each for each in codings if each not in {b"", b"identity"}]
    if not codings:
        return Identity(limits)
    make = ENGINES.get(codings[0])
    if make is None or len(codings) > 1:
        return None
    if make is deflate:
        return Expander(wrapped_deflate if limits.strict else make, limits, first_bytes=2)
    return Expander(make, limits, first_bytes=1)


def supported_accept_encoding(value: bytes) -> bytes:
    """Return what of a client's `Accept-Encoding` may go upstream: the codings we can undo, weights kept.

    `identity` if none is left, or for a list longer than any client's. Set it also where the client
    sent no such header, which would mean any coding.
    """
    return _supported(value) if len(value) <= _LIST_BYTES else b"identity"


@lru_cache(maxsize=256)
def _supported(value: bytes) -> bytes:
    kept = [each.strip() for each in value.split(b",") if _coding(each) in _ACCEPTED]
    return b", ".join(kept) if any(_wanted(each) for each in kept) else b"identity"


_ACCEPTED = frozenset((*ENGINES, b"identity"))


def _coding(item: bytes) -> bytes:
    return item.partition(b";")[0].strip().lower()


def _wanted(item: bytes) -> bool:
    weight = item.partition(b";")[2].replace(b" ", b"").lower()
    return not weight or weight.removeprefix(b"q=").strip(b"0.") != b""


def _expands(limit: str) -> LimitError:
    return LimitError(f"body: expands to more than {limit}", code="body.expands")
