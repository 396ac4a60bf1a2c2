"""One compressed stream of each content coding that can be undone: gzip, deflate, br and zstd.

deflate is zlib, and the raw form that servers send under its name.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

import brotli  # type: ignore[import-untyped]  # the package has no type information

from ghost_core.errors import FailedError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["BROKEN", "ENGINES", "Engine", "deflate", "malformed", "wrapped_deflate"]

BROKEN: Final = (zlib.error, brotli.error, zstd.ZstdError)
"""What a step raises where a stream cannot be decoded."""


class Engine(Protocol):
    """One compressed stream of a coding; several can follow each other in one body."""

    @property
    def ended(self) -> bool:
        """Whether the stream is complete."""
        ...

    @property
    def unused(self) -> bytes:
        """What followed the complete stream."""
        ...

    def step(self, data: bytes, size: int) -> bytes:
        """Take data and return some `size` bytes; call with nothing for more, until nothing comes."""
        ...


class _Zlib:
    """gzip or deflate."""

    def __init__(self, window_bits: int) -> None:
        self._inner = zlib.decompressobj(wbits=window_bits)

    @property
    def ended(self) -> bool:
        return self._inner.eof

    @property
    def unused(self) -> bytes:
        return self._inner.unused_data

    def step(self, data: bytes, size: int) -> bytes:
        if self._inner.eof:
            return b""
        return self._inner.decompress(self._inner.unconsumed_tail + data, size)


class _Brotli:
    """br; what follows the stream cannot be told apart, so it is refused."""

    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    @property
    def ended(self) -> bool:
        return bool(self._inner.is_finished())

    @property
    def unused(self) -> bytes:
        return b""

    def step(self, data: bytes, size: int) -> bytes:
        return bytes(self._inner.process(data, output_buffer_limit=size))


class _Zstd:
    """One frame of zstd."""

    def __init__(self) -> None:
        # 8 MiB is the most that RFC 9659 lets a sender of this coding ask for
        options = {int(zstd.DecompressionParameter.window_log_max): 23}
        self._inner = zstd.ZstdDecompressor(options=options)

    @property
    def ended(self) -> bool:
        return self._inner.eof

    @property
    def unused(self) -> bytes:
        return self._inner.unused_data

    def step(self, data: bytes, size: int) -> bytes:
        return b"" if self._inner.eof else self._inner.decompress(data, size)


def _gzip(_first: bytes) -> Engine:
    return _Zlib(16 + zlib.MAX_WBITS)


def deflate(first: bytes) -> Engine:
    """Begin a stream of deflate in either form; the first two bytes tell."""
    return _Zlib(zlib.MAX_WBITS if _is_wrapped(first) else -zlib.MAX_WBITS)


def wrapped_deflate(first: bytes) -> Engine:
    """Begin a stream of deflate in the form of its RFC; raises FailedError `body.malformed` for raw ones."""
    if not _is_wrapped(first):
        raise malformed("has no zlib header")
    return _Zlib(zlib.MAX_WBITS)


def _is_wrapped(first: bytes) -> bool:
    """Tell zlib from the raw form: method 8, and the two header bytes divide by 31 (RFC 1950 §2.2)."""
    return first[0] & 0x0F == zlib.DEFLATED and int.from_bytes(first[:2]) % 31 == 0


def _br(_first: bytes) -> Engine:
    return _Brotli()


def _zstd(_first: bytes) -> Engine:
    return _Zstd()


ENGINES: Final[Mapping[bytes, Callable[[bytes], Engine]]] = MappingProxyType(
    {b"gzip": _gzip, b"x-gzip": _gzip, b"deflate": deflate, b"br": _br, b"zstd": _zstd}
)


def malformed(text: str) -> FailedError:
    """Return the error of a body whose coding is broken."""
    return FailedError(f"body: its content coding {text}", code="body.malformed")
