"""Files that must be whole or absent: written beside, synced, then moved into place."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ghost_core.errors import UnavailableError
from ghost_core.look import reason


def sync(path: Path) -> None:
    """Come back when the disk has a file's content, or a folder's names; raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_file(path: Path, data: bytes, *, mode: int) -> None:
    """Replace the file's content at once; a reader sees the old bytes or the new ones.

    A link in the file's place is replaced, never followed. Raises UnavailableError where we cannot write.
    """
    try:
        beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(file.fileno(), mode)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        raise UnavailableError(
            f"file {str(path)!r}: cannot be written, {reason(error)}",
            code="file.unwritable",
        ) from error
