"""Our own memory: overwrite what the interpreter would leave, find what stayed (contract §3).

The scan answers `ghost evaporate`'s `memory_scan`. It sees the readable memory of this process
only: not swap, not other processes, not the kernel. A clean scan is a finding, never a proof.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence

from ghost_core.secret import SecretBytes
from ghost_ledger.session.mappings import Span, written

_CHUNK = 1 << 20
_SMALLEST = 8
_BYTES_OFFSET = bytes.__basicsize__ - 1
_BYTE_OBJECTS = sys.implementation.name == "cpython"

type _Reader = Callable[[int, int, int], int]


class _Vector(ctypes.Structure):
    """`struct iovec` of <sys/uio.h>."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def erase(value: bytes | bytearray) -> None:
    """Overwrite a value that nobody else holds, in place; its content is zeros afterwards.

    `bytes` are immutable by agreement only. Never hand in a literal, a shared value or a dictionary
    key. One-byte and empty values are left alone, because the interpreter shares them.
    """
    if isinstance(value, bytearray):
        value[:] = bytes(len(value))
    elif _BYTE_OBJECTS and len(value) > 1:
        ctypes.memset(id(value) + _BYTES_OFFSET, 0, len(value))


def scan(needles: Sequence[SecretBytes]) -> int | None:
    """Count the copies of the needles in our readable memory; None where that is not possible.

    The buffers of the needles and of the scan itself do not count. Needles under 8 bytes are
    skipped, because they would match by chance.
    """
    reader = _reader()
    spans = written()
    if reader is None or spans is None:
        return None
    revealed = [secret.reveal() for secret in needles if len(secret) >= _SMALLEST]
    own = [_span(secret._buffer) for secret in needles if secret] + [  # noqa: SLF001  # the address is the point
        (id(value) + _BYTES_OFFSET, len(value)) for value in revealed
    ]
    try:
        return len(_found(reader, spans, sorted(set(revealed)), own))
    finally:
        for value in revealed:
            erase(value)


def _found(
    reader: _Reader, spans: list[Span], needles: list[bytes], own: list[Span]
) -> set[tuple[int, int]]:
    overlap = max(map(len, needles), default=0)
    window = bytearray(_CHUNK + overlap)
    base, size = _span(window)
    skipped = [*own, (base, size)]
    hits: set[tuple[int, int]] = set()
    for start, length in spans:
        for offset in range(0, length, _CHUNK):
            address = start + offset
            got = reader(address, base, min(size, length - offset))
            for index, needle in enumerate(needles):
                hits.update(
                    (index, address + at)
                    for at in _occurrences(window, needle, got)
                    if not _inside(address + at, skipped)
                )
    erase(window)
    return hits


def _occurrences(window: bytearray, needle: bytes, end: int) -> Iterator[int]:
    at = window.find(needle, 0, end)
    while at >= 0:
        yield at
        at = window.find(needle, at + 1, end)


def _inside(address: int, spans: list[Span]) -> bool:
    return any(start <= address < start + length for start, length in spans)


def _span(buffer: bytearray) -> Span:
    view = (ctypes.c_char * len(buffer)).from_buffer(buffer)
    return ctypes.addressof(view), len(buffer)


def _reader() -> _Reader | None:
    """Return a reader of our memory: process_vm_readv(2), open to undumpable processes too."""
    library = ctypes.CDLL(None, use_errno=True)
    readv = getattr(library, "process_vm_readv", None)
    if readv is None:
        return None
    readv.restype = ctypes.c_ssize_t
    process = os.getpid()

    def read(address: int, into: int, length: int) -> int:
        local, remote = _Vector(into, length), _Vector(address, length)
        got = readv(process, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
        return max(0, int(got))

    probe = bytearray(b"\1")
    target = bytearray(1)
    works = read(_span(probe)[0], _span(target)[0], 1) == 1 and target == probe
    return read if works else None
