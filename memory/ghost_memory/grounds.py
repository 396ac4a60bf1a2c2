"""Which directories can be projects at all.

What is bound holds for everything below it, so a folder that all share is none: the root and folders for
temporary files never, for anybody can make a repository of them; a home or a folder of the system only where
it holds a repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ghost_core.errors import NotFoundError, UnavailableError, UsageError
from ghost_core.look import exists, is_dir
from ghost_memory.checkout import Checkout, text
from ghost_memory.limits import shown

__all__ = ["are_shared", "require", "require_directory"]

_WORLD: Final = (
    "/ /dev /dev/shm /home /Users /proc /run /sys /tmp /var/tmp /private/tmp /private/var/tmp"
)
_OF_THE_SYSTEM: Final = (
    "/bin /boot /etc /lib /lib32 /lib64 /libx32 /media /mnt /opt /root /sbin /srv /usr /var"
    " /usr/bin /usr/lib /usr/libexec /usr/local /usr/sbin /usr/share /usr/src"
    " /var/cache /var/lib /var/log /var/run /var/spool"
    " /Applications /Library /System /Volumes /private /private/etc /private/var"
)
_NEVER: Final = frozenset(_WORLD.split())
_SYSTEM: Final = frozenset(_OF_THE_SYSTEM.split())
_HOMES: Final = ("/home", "/Users")


def are_shared(place: Checkout) -> bool:
    """Tell whether a directory, or the repository around it, can be no project."""
    path = place.root or place.path
    return path in _NEVER or (not place.common and _is_of_many(path))


def require(place: Checkout) -> str:
    """Return the directory to bind, the root of a repository; raises UsageError `project.path`."""
    path = place.root or place.path
    if are_shared(place):
        why = "all share it" if path in _NEVER else "a home or system folder without a repository"
        raise UsageError(
            f"directory {shown(path)}: can be no project, {why}",
            code="project.path",
            hint="--project NAME, or a directory of its own: ghost project bind NAME DIR",
        )
    return path


def require_directory(directory: Path) -> None:
    """Raise NotFoundError `directory.missing`, UnavailableError `directory.file` or `file.unreadable`."""
    if is_dir(directory):
        return
    named = shown(text(directory))
    if exists(directory):
        raise UnavailableError(f"{named}: is a file, expected a directory", code="directory.file")
    raise NotFoundError(f"directory {named}: does not exist", code="directory.missing")


def _is_of_many(path: str) -> bool:
    return path in _SYSTEM | {text(Path.home())} or str(Path(path).parent) in _HOMES
