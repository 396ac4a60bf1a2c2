"""Who holds a session's keys: one owner process, named by `flock` on its lock (contract §3).

The kernel drops the lock with the process, so a dead owner never blocks the next one. The seeds lie
in the key file until the seal (`ghost run` never writes it), and in the owner in locked buffers
only.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import shutil
import stat
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from ghost_core.errors import IntegrityError, NotFoundError, UnavailableError
from ghost_core.paths import runtime_dir
from ghost_ledger.keys import SecretKey
from ghost_ledger.session.residual import erase
from ghost_ledger.session.runtime import SessionFolder, foreign

_PR_SET_DUMPABLE = 4
_KEY_FILE_BYTES = 2 * 65
_PROBE_SECONDS = 0.1
_HEX = b"0123456789abcdef"
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class Custody:
    """The owner's hold on one session: its lock, its signing key, its wire key."""

    folder: SessionFolder
    key: SecretKey
    wire_key: SecretKey
    _lock: int

    @classmethod
    def create(cls, sid: str, *, persist: bool = True, root: Path | None = None) -> Self:
        """Make folder, lock and two keys for a new session, and become its owner.

        With `persist=False` the seeds never touch a file: the session ends with this process.

        Raises:
            UnavailableError: the runtime folder cannot be written, or the session exists already.
        """
        harden()
        folder = SessionFolder(sid, root or runtime_dir())
        lock = _make(folder)
        key, wire_key = SecretKey.generate(), SecretKey.generate()
        custody = cls(folder, key, wire_key, lock)
        if persist:
            try:
                _write_seeds(folder, key, wire_key)
            except BaseException:
                custody.destroy()
                raise
        return custody

    @classmethod
    def acquire(cls, sid: str, *, root: Path | None = None) -> Self:
        """Become the owner of a session that has none, with its keys from the key file.

        Raises:
            UnavailableError: code `session.owned`, another process holds it; `session.foreign`,
                folder or key file are not ours alone.
            NotFoundError: code `session.key`, the key is gone.
            IntegrityError: code `session.key_file`, the key file is damaged.
        """
        harden()
        folder = SessionFolder(sid, root or runtime_dir())
        lock = _take(folder)
        try:
            key, wire_key = _read_seeds(folder)
        except BaseException:
            os.close(lock)
            raise
        return cls(folder, key, wire_key, lock)

    def release(self) -> None:
        """Give the session up: wipe our copy of the keys, let the next owner in; the file stays."""
        self.key.wipe()
        self.wire_key.wipe()
        self._unlock()

    def destroy(self) -> bool:
        """End the session's keys: wipe both, overwrite and remove the key file, remove the folder.

        True only if both buffers read back as zeros and neither file nor folder is left.
        """
        wiped = [self.key.wipe(), self.wire_key.wipe()]
        removed = _remove(self.folder)
        self._unlock()
        return all(wiped) and removed

    def _unlock(self) -> None:
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_owned(sid: str, *, root: Path | None = None) -> bool:
    """Tell whether a living process on this host holds the session's lock."""
    try:
        lock = _take(SessionFolder(sid, root or runtime_dir()), wait_seconds=0)
    except NotFoundError:
        return False
    except UnavailableError as error:
        return error.code == "session.owned"
    os.close(lock)
    return False


def discard(sid: str, *, root: Path | None = None) -> bool:
    """Remove what a dead owner left, key file included; False if somebody owns it or something stays.

    True also where there is nothing to remove.
    """
    folder = SessionFolder(sid, root or runtime_dir())
    try:
        lock = _take(folder, wait_seconds=0)
    except NotFoundError:
        shutil.rmtree(folder.path, ignore_errors=True)
        return not os.path.lexists(folder.path)
    except UnavailableError:
        return False
    try:
        return _remove(folder)
    finally:
        os.close(lock)


def has_key(sid: str, *, root: Path | None = None) -> bool:
    """Tell whether the session's key file still lies on this machine."""
    return SessionFolder(sid, root or runtime_dir()).key.is_file()


def harden() -> None:
    """Keep our keys out of core dumps, and other processes of this user out of our memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _make(folder: SessionFolder) -> int:
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
        raise _unwritable(folder, error) from error


def _new_lock(folder: SessionFolder) -> int:
    lock = os.open(folder.lock, _CREATE, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _sign_lock(lock)
    except OSError:
        os.close(lock)
        raise
    return lock


def _take(folder: SessionFolder, *, wait_seconds: float = _PROBE_SECONDS) -> int:
    """Take the lock; a prober holds it for an instant, so a busy one is tried for a moment."""
    os.close(folder.open())
    lock = _open_private(folder, folder.lock)
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
        raise _gone(folder)


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


def _gone(folder: SessionFolder) -> NotFoundError:
    return NotFoundError(
        f"session {folder.sid}: its key is not in {str(folder.root)!r}",
        code="session.key",
        hint="set XDG_RUNTIME_DIR as it was at the spawn; a key that is gone ends the session",
    )


def _unwritable(folder: SessionFolder, error: OSError) -> UnavailableError:
    return UnavailableError(
        f"session {folder.sid}: its folder cannot be written, {error.strerror}",
        code="session.folder",
        hint=f"df -h {folder.root}",
    )


def _open_private(folder: SessionFolder, path: Path) -> int:
    """Open a file of the session, never through a link, and only if it is ours with mode 0600."""
    try:
        descriptor = os.open(path, _OPEN)
    except FileNotFoundError as error:
        raise _gone(folder) from error
    except OSError as error:
        raise foreign(path, error.strerror or "an error") from error
    found = os.fstat(descriptor)
    ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
    if not ours or found.st_mode & 0o077:
        os.close(descriptor)
        raise foreign(path, f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}")
    return descriptor


def _write_seeds(folder: SessionFolder, *keys: SecretKey) -> None:
    text = bytearray()
    for key in keys:
        seed = key.seed()
        revealed = seed.reveal()
        for byte in revealed:
            text += bytes((_HEX[byte >> 4], _HEX[byte & 15]))
        text += b"\n"
        erase(revealed)
        seed.wipe()
    try:
        descriptor = os.open(folder.key, _CREATE, 0o600)
        try:
            if os.write(descriptor, text) != _KEY_FILE_BYTES:
                raise OSError(28, "no space left")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        erase(text)


def _read_seeds(folder: SessionFolder) -> tuple[SecretKey, SecretKey]:
    descriptor = _open_private(folder, folder.key)
    text = bytearray(_KEY_FILE_BYTES + 1)
    try:
        if os.readv(descriptor, [text]) != _KEY_FILE_BYTES:
            raise _damaged(folder)
        return _key(folder, text, 0), _key(folder, text, 65)
    finally:
        os.close(descriptor)
        erase(text)


def _key(folder: SessionFolder, text: bytearray, start: int) -> SecretKey:
    if text[start + 64] != ord("\n"):
        raise _damaged(folder)
    raw = bytearray(32)
    for at in range(32):
        high, low = _HEX.find(text[start + 2 * at]), _HEX.find(text[start + 2 * at + 1])
        if high < 0 or low < 0:
            raise _damaged(folder)
        raw[at] = high << 4 | low
    seed = bytes(raw)
    try:
        return SecretKey.from_seed(seed)
    finally:
        erase(seed)
        erase(raw)


def _damaged(folder: SessionFolder) -> IntegrityError:
    return IntegrityError(
        f"session {folder.sid}: its key file is not two lines of 64 hex digits",
        code="session.key_file",
        hint=f"ghost session show {folder.sid}",
    )


def _remove(folder: SessionFolder) -> bool:
    overwritten = _overwrite(folder.key)
    shutil.rmtree(folder.path, ignore_errors=True)
    return overwritten and not os.path.lexists(folder.path)


def _overwrite(path: Path) -> bool:
    """Overwrite the key file with zeros, read them back, unlink; True also if there is none."""
    try:
        descriptor = os.open(path, _OPEN)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        size = os.fstat(descriptor).st_size
        os.pwrite(descriptor, bytes(size), 0)
        os.fsync(descriptor)
        zeroed = not any(os.pread(descriptor, size, 0))
        path.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return zeroed
