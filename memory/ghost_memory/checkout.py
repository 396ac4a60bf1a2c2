"""What a directory is to git: its physical path, the common directory of its worktrees, its remote.

Read from git's own files (gitrepository-layout, git-config), so that no program runs and no repository is
trusted with anything but two strings.
"""

from __future__ import annotations

import os
import re
from os.path import exists, isdir, isfile  # unlike those of Path, they never raise
from pathlib import Path
from typing import Final, NamedTuple, Self

_CONFIG_BYTES: Final = 262_144
_SECTION: Final = re.compile(r'\s*\[\s*remote\s+"(?P<name>[^"]*)"\s*\]')
_ANY_SECTION: Final = re.compile(r"\s*\[")
_URL: Final = re.compile(r'\s*url\s*=\s*"?(?P<url>[^\s"]+)')
_ADDRESS: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|(?!\w+://))(?:[^@/\s]*@)?(?P<host>\[[^\]]+\]|[^:/\s]{2,})(?::\d+(?=/))?"
    r"[:/]+(?P<path>\S+)",
    re.IGNORECASE,
)


class Checkout(NamedTuple):
    """A directory, resolved; `common` and `remote` are empty outside git."""

    path: str
    root: str = ""
    common: str = ""
    remote: str = ""

    @classmethod
    def of(cls, directory: Path) -> Self:
        """Look at a directory; one that does not exist is a path and nothing else."""
        path = _physical(directory)
        root = next((each for each in (path, *path.parents) if exists(each / ".git")), None)
        if root is None:
            bare = path if isfile(path / "HEAD") and isdir(path / "objects") else None
            return cls(text(path), "", text(bare) if bare else "", _remote(bare) if bare else "")
        common = _common(root)
        if common is None:
            return cls(text(path), text(root))
        return cls(text(path), text(root), text(common), _remote(common))

    @property
    def name(self) -> str:
        """What a project here is called by default: the folder that `git init` or `git clone` made."""
        common = Path(self.common)
        main = common.parent if common.name == ".git" else Path(self.root or self.path)
        return main.name


def text(path: Path) -> str:
    """Return a path as text that every store can hold; bytes that are no UTF-8 as escapes."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError:  # no file system knows such a path, but somebody can ask for it
        data = str(path).encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace")


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
    if isdir(entry):
        return _physical(entry)
    said = _read(entry).removeprefix("gitdir:").strip()
    own = _physical(root / said) if said else None
    if own is None or not isdir(own):
        return None
    shared = _read(own / "commondir").strip()
    return _physical(own / shared) if shared else own


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
    """Return the beginning of a file; a pipe in its place would be waited for."""
    try:
        if not isfile(file):
            return ""
        with file.open("rb") as opened:
            return opened.read(_CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _physical(path: Path) -> Path:
    """Resolve links as far as that is possible; a path that no system can have is taken as it is."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()
