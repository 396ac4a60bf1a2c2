"""Whether there can be a home where GHOST_HOME says: one that is not made yet is no mistake, a file is."""

from __future__ import annotations

from pathlib import Path

from ghost_core.errors import UnavailableError
from ghost_core.look import is_dir, is_link, reason
from ghost_core.paths import home

__all__ = ["require"]


def require() -> None:
    """Raise UnavailableError `home.unusable` where a home neither is nor could be made."""
    root = home().root
    why = _why(root)
    if why:
        raise UnavailableError(
            f"home {str(root)!r}: {why}",
            code="home.unusable",
            hint="set GHOST_HOME to a folder that you own",
        )


def _why(root: Path) -> str:
    if is_dir(root):
        return ""
    try:
        root.stat()
    except FileNotFoundError:
        return "is a link that leads nowhere" if is_link(root) else ""
    except (OSError, ValueError) as error:
        return f"cannot be used, {reason(error)}"
    return "is a file, expected a directory"
