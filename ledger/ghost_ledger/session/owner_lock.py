"""The lock of a session: whoever holds `flock` on it is the owner (contract §3).

The kernel drops the lock with the process, so a dead owner never blocks the next one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time

from ghost_core.errors import UnavailableError
from ghost_ledger.session.runtime import NEW_FILE_FLAGS, SessionFolder

_PROBE_SECONDS = 0.1


def make(folder: SessionFolder) -> int:
    """Make the folder of a new session and its lock, and return the lock, taken.

    Raises: UnavailableError `session.folder` if it is there already or cannot be written.
    """
    try:
        folder.path.mkdir(mode=0o700)
    except OSError as error:
        raise UnavailableError(
            f"session {folder.sid}: its folder cannot be made, {error.strerror}",
            code="session.folder",
            hint="set XDG_RUNTIME_DIR to a folder that you own",
        ) from error
    try:
        return _new_lock(folder)
    except OSError as error:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise folder.unwritable(error) from error


def _new_lock(folder: SessionFolder) -> int:
    lock = os.open(folder.lock, NEW_FILE_FLAGS, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _sign_lock(lock)
    except OSError:
        os.close(lock)
        raise
    return lock


def take(folder: SessionFolder, *, wait_seconds: float = _PROBE_SECONDS) -> int:
    """Return the lock, taken; a prober holds it for an instant, so a busy one is tried for a moment.

    Raises: UnavailableError `session.owned` if another process holds it, and as `SessionFolder.open` does.
    """
    os.close(folder.open())
    lock = folder.open_file(folder.lock)
    try:
        _wait(folder, lock, until=time.monotonic() + wait_seconds)
        if wait_seconds:
            _sign_lock(lock)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _wait(folder: SessionFolder, lock: int, *, until: float) -> None:
    while not _try_lock(lock):
        if time.monotonic() >= until:
            raise _owned(folder, lock)
        time.sleep(0.005)
    if not _still_there(folder, lock):
        raise folder.gone()


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _still_there(folder: SessionFolder, lock: int) -> bool:
    """An owner that destroyed the session unlinked the very file whose lock we then got."""
    try:
        named = folder.lock.lstat()
    except FileNotFoundError:
        return False
    held = os.fstat(lock)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def _sign_lock(lock: int) -> None:
    """Note our process id in the lock, for the message of whoever finds it taken."""
    os.pwrite(lock, b"%-15d\n" % os.getpid(), 0)  # one width, so that nothing is to be cut off


def _owned(folder: SessionFolder, lock: int) -> UnavailableError:
    process = os.pread(lock, 16, 0).strip().decode("ascii", "replace")
    return UnavailableError(
        f"session {folder.sid}: owned by process {process or 'unknown'}",
        code="session.owned",
        hint="ask its owner: ghost act and ghost evaporate do so by themselves",
    )
