"""Where things lie: one home, one runtime folder, nothing else per user."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from ghost_core.errors import UnavailableError


class Home(NamedTuple):
    """The home folder and its fixed rooms."""

    root: Path

    @property
    def config(self) -> Path:
        """The user's `ghost.toml`."""
        return self.root / "ghost.toml"

    @property
    def database(self) -> Path:
        """The default SQLite file."""
        return self.root / "ghost.db"

    @property
    def hooks(self) -> Path:
        """Hook files of the user."""
        return self.root / "hooks"

    @property
    def tools(self) -> Path:
        """Imported tool descriptions."""
        return self.root / "tools"

    @property
    def keys(self) -> Path:
        """Log key, server token keys, vault key."""
        return self.root / "keys"

    @property
    def heads(self) -> Path:
        """The last log heads, outside the database."""
        return self.root / "heads"

    @property
    def ca(self) -> Path:
        """The certificate authority that clients trust."""
        return self.root / "ca"

    @property
    def logs(self) -> Path:
        """Operator logs."""
        return self.root / "logs"

    @property
    def models(self) -> Path:
        """Models that were made here, a folder for each; there is none before the first."""
        return self.root / "models"

    def ensure(self) -> Home:
        """Create the folders that must exist, 0700; raises UnavailableError if we cannot."""
        try:
            for folder in (self.root, self.hooks, self.keys, self.heads, self.ca, self.logs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UnavailableError(
                f"home {str(self.root)!r}: cannot be created or written, {error.strerror}",
                code="home.unwritable",
                hint="set GHOST_HOME to a folder that you own",
            ) from error
        return self


def home() -> Home:
    """Return the home of `GHOST_HOME`, else `~/.ghost`; nothing is created."""
    named = os.environ.get("GHOST_HOME")
    root = of_user(named or "~/.ghost")
    return Home(root.absolute())


def current() -> Path:
    """Return the current directory; raises UnavailableError where it is gone."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UnavailableError(
            f"the current directory: cannot be used, {error.strerror}",
            code="directory.gone",
            hint="cd to a directory that exists",
        ) from error


def of_user(text: str) -> Path:
    """Return a path as a user writes it, `~` expanded; raises UnavailableError for a home nobody knows."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise UnavailableError(
            f"path {text!r}: nobody knows this home directory", code="directory.home"
        ) from error


def expand(text: str, *, base: Home | None = None) -> Path:
    """Expand `~`, a leading `~/.ghost` and `$GHOST_HOME` in a configured path."""
    root = str((base or home()).root)
    text = text.replace("${GHOST_HOME}", root).replace("$GHOST_HOME", root)
    if text == "~/.ghost" or text.startswith("~/.ghost/"):
        return Path(root + text[len("~/.ghost") :])
    return of_user(text)


def runtime_dir() -> Path:
    """Return the folder of live sessions, made 0700; a folder that is not ours is never used."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base:
        return _private(Path(base) / "ghost_sessions")
    shared = Path("/tmp/ghost_sessions")  # noqa: S108  # the contract's place, checked for owner and mode
    try:
        return _private(shared)
    except UnavailableError:
        return _private(Path(f"/tmp/ghost_sessions-{os.getuid()}"))  # noqa: S108  # as above


def runtime_place() -> Path:
    """Return where `runtime_dir` is, or would be; nothing is made."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base:
        return Path(base) / "ghost_sessions"
    shared = Path("/tmp/ghost_sessions")  # noqa: S108  # the contract's place
    if not shared.is_symlink() and not shared.exists():
        return shared
    found = shared.lstat()
    if found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return shared
    return Path(f"/tmp/ghost_sessions-{os.getuid()}")  # noqa: S108  # as above


def _private(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise UnavailableError(
            f"runtime folder {str(folder)!r}: cannot be used, {error.strerror}",
            code="runtime.unwritable",
            hint="set XDG_RUNTIME_DIR to a folder that you own",
        ) from error
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not ours or found.st_mode & 0o077:
        raise UnavailableError(
            f"runtime folder {str(folder)!r}: expected a folder of ours with mode 0700",
            code="runtime.foreign",
            hint="set XDG_RUNTIME_DIR to a folder that you own",
        )
    return folder
