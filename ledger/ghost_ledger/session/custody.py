"""Who holds a session's keys: one owner process, named by its lock (contract §3).

The seeds lie in the key file until the seal (`ghost run` never writes it), and in the owner in locked
buffers only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from ghost_core.errors import NotFoundError, UnavailableError
from ghost_core.paths import runtime_dir
from ghost_ledger.keys import SecretKey
from ghost_ledger.session import key_file, owner_lock
from ghost_ledger.session.runtime import SessionFolder

_PR_SET_DUMPABLE = 4


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
        lock = owner_lock.make(folder)
        key, wire_key = SecretKey.generate(), SecretKey.generate()
        custody = cls(folder, key, wire_key, lock)
        if persist:
            try:
                key_file.write(folder, key, wire_key)
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
        lock = owner_lock.take(folder)
        try:
            key, wire_key = key_file.read(folder)
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
        lock = owner_lock.take(SessionFolder(sid, root or runtime_dir()), wait_seconds=0)
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
        lock = owner_lock.take(folder, wait_seconds=0)
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


def _remove(folder: SessionFolder) -> bool:
    overwritten = key_file.overwrite(folder.key)
    shutil.rmtree(folder.path, ignore_errors=True)
    return overwritten and not os.path.lexists(folder.path)
