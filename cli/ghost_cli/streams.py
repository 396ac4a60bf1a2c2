"""The standard streams as a caller leaves them: closed, full, or unable to show a letter."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from ghost_core.errors import UnavailableError

__all__ = ["fill", "flush", "give_up", "tell", "unwritable", "write", "write_bytes"]

# A closed stdout becomes one that cannot be written: what is lost is an error, unlike that of stderr.
_STANDARD: Final = (
    ("stdin", os.O_RDONLY, "r"),
    ("stdout", os.O_RDONLY, "w"),
    ("stderr", os.O_WRONLY, "w"),
)


def fill() -> None:
    """Open what was closed, so that no other file gets its number and nothing has to ask for it."""
    for number, (name, flags, mode) in enumerate(_STANDARD):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)  # the lowest free number
            os.set_inheritable(opened, opened == number)
            setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8"))


def write(text: str) -> None:
    """Write to stdout; raises UnavailableError `stdout.unwritable`, BrokenPipeError where a reader left."""
    with _sending():
        _write(sys.stdout, text)


def write_bytes(data: bytes, binary: BinaryIO) -> None:
    """Write bytes to what lies below stdout; raises as `write`."""
    with _sending():
        sys.stdout.flush()
        binary.write(data)
        binary.flush()


def flush() -> None:
    """Send what was written to stdout; raises as `write`."""
    with _sending():
        sys.stdout.flush()


def tell(text: str) -> None:
    """Write to stderr; where that cannot be written there is nobody to be told."""
    try:
        _write(sys.stderr, text)
    except OSError:
        give_up(sys.stderr)


def unwritable(error: OSError) -> UnavailableError | None:
    """Return what to say of an error that met a library if stdout is why, else None."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return None
    except OSError:
        give_up(sys.stdout)
        return _described(error)
    return None


def give_up(stream: TextIO) -> None:
    """Let the flush at exit go nowhere: that it fails was said, or is no news."""
    with suppress(OSError, ValueError), Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


@contextmanager
def _sending() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        give_up(sys.stdout)
        raise _described(error) from error


def _described(error: OSError) -> UnavailableError:
    return UnavailableError(
        f"standard output: cannot be written, {error.strerror or 'no reason is known'}",
        code="stdout.unwritable",
    )


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
