"""Looks at paths that may be anything a user can type: too long, behind a closed folder, no path at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ghost_core.errors import UnavailableError

__all__ = ["exists", "is_dir", "is_file", "is_link", "reason"]


def is_file(path: Path) -> bool:
    """Tell whether a file is seen there; unlike that of Path this never raises."""
    return _seen(path, Path.is_file)


def is_dir(path: Path) -> bool:
    """Tell whether a directory is seen there; never raises."""
    return _seen(path, Path.is_dir)


def is_link(path: Path) -> bool:
    """Tell whether a symbolic link is seen there; never raises."""
    return _seen(path, Path.is_symlink)


def exists(path: Path) -> bool:
    """Tell whether something is there, for who takes its absence for an answer.

    Raises UnavailableError `file.unreadable` where nobody can tell: a closed folder, a name too long.
    """
    try:
        return path.exists()
    except OSError as error:
        raise UnavailableError(
            f"file {str(path)!r}: cannot be looked at, {reason(error)}", code="file.unreadable"
        ) from error


def reason(error: OSError | ValueError) -> str:
    """Return what the system says about a path, or that it can be none."""
    said = error.strerror if isinstance(error, OSError) else None
    return said or "no path can be like this"


def _seen(path: Path, look: Callable[[Path], bool]) -> bool:
    try:
        return look(path)
    except OSError:
        return False
