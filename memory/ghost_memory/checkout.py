"""What a directory is to git: its physical path, the common directory of its worktrees, its remote.

Read from git's own files (gitrepository-layout, git-config), so that no program runs and no repository is
trusted with anything but two strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_CONFIG_BYTES: Final = 262_144
_SECTION: Final = re.compile(r'\s*\[\s*remote\s+"(?P<name>[^"]*)"\s*\]')
_ANY_SECTION: Final = re.compile(r"\s*\[")
_URL: Final = re.compile(r"\s*url\s*=\s*(?P<url>\S+)")
_ADDRESS: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]*@)?(?P<host>\[[^\]]+\]|[^:/\s]+)(?::\d+(?=/))?[:/]+(?P<path>\S+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A directory, resolved; `common` and `remote` are empty outside git."""

    path: str
    root: str = ""
    common: str = ""
    remote: str = ""

    @classmethod
    def of(cls, directory: Path) -> Self:
        """Look at a directory; one that does not exist is a path and nothing else."""
        path = directory.resolve()
        root = next((each for each in (path, *path.parents) if (each / ".git").exists()), None)
        if root is None:
            bare = path if (path / "HEAD").is_file() and (path / "objects").is_dir() else None
            return cls(str(path), "", str(bare or ""), _remote(bare) if bare else "")
        common = _common(root)
        if common is None:
            return cls(str(path), str(root))
        return cls(str(path), str(root), str(common), _remote(common))


def normal_remote(url: str) -> str:
    """Return `host/path` of a remote, the same for ssh, https and scp spelling; empty for a local path."""
    found = _ADDRESS.fullmatch(url.strip())
    if found is None or url.startswith(("/", ".", "file:")):
        return ""
    path = found["path"].strip("/").removesuffix(".git").strip("/")
    return f"{found['host'].lower()}/{path}" if path else ""


def _common(root: Path) -> Path | None:
    """Return the directory that all worktrees share, or None if what is written there leads nowhere."""
    entry = root / ".git"
    if entry.is_dir():
        return entry.resolve()
    said = _read(entry).removeprefix("gitdir:").strip()
    own = (root / said).resolve() if said else None
    if own is None or not own.is_dir():
        return None
    shared = _read(own / "commondir").strip()
    return (own / shared).resolve() if shared else own


def _remote(common: Path) -> str:
    """Return the remote `origin`, else the first one."""
    found: dict[str, str] = {}
    name = ""
    for line in _read(common / "config").splitlines():
        section = _SECTION.match(line)
        if section:
            name = section["name"]
        elif _ANY_SECTION.match(line):
            name = ""
        elif name and (url := _URL.match(line)):
            found.setdefault(name, normal_remote(url["url"]))
    return found.get("origin") or next((each for each in found.values() if each), "")


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_CONFIG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
