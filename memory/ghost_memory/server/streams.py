"""The real stdin and stdout, taken away before anything else is loaded.

Only JSON-RPC may reach stdout. So its descriptor is kept here alone, and descriptor 1 becomes stderr: a
print, a warning, a child process, a library that writes to C's stdout all end up there. Descriptor 0 becomes
the null device, so that nobody eats a line of the client. Python's streams speak UTF-8 whatever the console
says.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Streams", "taken"]


@dataclass(frozen=True, slots=True)
class Streams:
    """Two descriptors: what the client writes, and where answers go."""

    source: int
    sink: int


@contextlib.contextmanager
def taken() -> Iterator[Streams]:
    """Take stdin and stdout for the protocol; given back at the end."""
    sys.stdout.flush()
    streams = Streams(_above(0), _above(1))
    try:
        _divert()
        yield streams
    finally:
        sys.stdout.flush()
        os.dup2(streams.source, 0)
        os.dup2(streams.sink, 1)
        # The thread that reads may still be blocked on the source: its number must not be used again.
        os.close(streams.sink)


def _divert() -> None:
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            lines = True if stream is sys.stdout else None
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=lines)


def _above(number: int) -> int:
    """Duplicate a descriptor to one that is no standard stream and that no child inherits."""
    made = os.dup(number)
    if made > 2:
        return made
    try:
        return _above(number)
    finally:
        os.close(made)
