"""Where a live session keeps its files (contract §1): a private folder, gone after the seal."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from ghost_core import ids
from ghost_core.errors import NotFoundError, UnavailableError, UsageError
from ghost_core.paths import runtime_dir

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE_FLAGS = FILE_FLAGS | os.O_CREAT | os.O_EXCL


@dataclass(frozen=True, slots=True)
class SessionFolder:
    """The folder of one session; the id's shape is checked because it becomes part of a path."""

    sid: str
    root: Path = field(default_factory=runtime_dir)

    def __post_init__(self) -> None:
        if not ids.is_session_id(self.sid):
            raise UsageError(
                f"session id {self.sid[:64]!r}: expected gh_ and 32 hex digits",
                code="session.id",
                hint="ghost session list",
            )

    @property
    def path(self) -> Path:
        """The folder itself, 0700."""
        return self.root / self.sid

    @property
    def key(self) -> Path:
        """Two lines of hex: the session seed, the wire seed; 0600."""
        return self.path / "ed25519_key"

    @property
    def lock(self) -> Path:
        """Whoever holds `flock` on this file is the owner."""
        return self.path / "lock"

    @property
    def socket(self) -> Path:
        """Where the owner answers, 0600."""
        return self.path / "control.sock"

    @property
    def log(self) -> Path:
        """Debug log of the proxy, redacted."""
        return self.path / "proxy.log"

    def open(self) -> int:
        """Return a descriptor of the folder, close-on-exec; the caller closes it.

        Raises:
            NotFoundError: code `session.key`, there is no such folder.
            UnavailableError: code `session.foreign`, the folder is not ours or others may enter it.
        """
        try:
            descriptor = os.open(self.path, FOLDER_FLAGS)
        except FileNotFoundError as error:
            raise self.gone() from error
        except OSError as error:
            raise foreign(self.path, error.strerror or "not a folder") from error
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            os.close(descriptor)
            raise foreign(
                self.path, f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}"
            )
        return descriptor

    def open_file(self, path: Path) -> int:
        """Return a descriptor of one of its files, never through a link; the caller closes it.

        Raises: as `open` does, and where the file is not ours alone (0600).
        """
        try:
            descriptor = os.open(path, FILE_FLAGS)
        except FileNotFoundError as error:
            raise self.gone() from error
        except OSError as error:
            raise foreign(path, error.strerror or "an error") from error
        found = os.fstat(descriptor)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if not ours or found.st_mode & 0o077:
            os.close(descriptor)
            raise foreign(path, f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}")
        return descriptor

    def gone(self) -> NotFoundError:
        """Return the error for a session whose files are not here."""
        return NotFoundError(
            f"session {self.sid}: its key is not in {str(self.root)!r}",
            code="session.key",
            hint="set XDG_RUNTIME_DIR as it was at the spawn; a key that is gone ends the session",
        )

    def unwritable(self, error: OSError) -> UnavailableError:
        """Return the error for a folder that takes no file."""
        return UnavailableError(
            f"session {self.sid}: its folder cannot be written, {error.strerror}",
            code="session.folder",
            hint=f"df -h {self.root}",
        )


def foreign(path: Path, found: str) -> UnavailableError:
    """Return the error for a file or folder that somebody else could have put there."""
    return UnavailableError(
        f"{str(path)!r}: expected ours and private, found {found}",
        code="session.foreign",
        hint=f"ls -la {path.parent}",
    )
