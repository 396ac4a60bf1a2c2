"""The home's long-lived secrets: log key (signs heads only), vault key, and the key of a witness.

Files of 0600 that are never followed through a link. A file appears complete or not at all, so two
processes that start at once agree on one key.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.files import sync
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_ledger.keys import SEED_BYTES, SecretKey

__all__ = [
    "existing_log_key",
    "has_witness_key",
    "key_of_log",
    "log_key",
    "next_log_key",
    "replace_log_key",
    "replacing",
    "vault_key",
    "witness_key",
]

LOG_KEY: Final = "log_key"
NEXT_KEY: Final = "log_key.next"
OLD_KEY: Final = "log_key.old"
VAULT_KEY: Final = "vault_key"
WITNESS_KEY: Final = "witness_key"


def log_key(home: Home) -> SecretKey:
    """Load the key that signs log heads; create it if the home has none.

    Raises:
        UnavailableError: code `keys.unwritable`.
        IntegrityError: code `keys.file`, not a private file of ours with 32 bytes.
    """
    return SecretKey.from_seed(_load_or_create(home.keys / LOG_KEY, _new_seed).reveal())


def existing_log_key(home: Home) -> SecretKey | None:
    """Load the log key, or return None where there is none; raises like `log_key`."""
    found = _load(home.keys / LOG_KEY)
    return None if found is None else SecretKey.from_seed(found.reveal())


def key_of_log(home: Home, public: bytes) -> SecretKey | None:
    """Load the key of a log by its public half, also while it is being replaced; raises like `log_key`."""
    for name in (LOG_KEY, NEXT_KEY):
        found = _load(home.keys / name)
        key = None if found is None else SecretKey.from_seed(found.reveal())
        if key is not None and key.public == public:
            return key
        if key is not None:
            key.wipe()
    return None


def next_log_key(home: Home) -> SecretKey:
    """Load the key that is to come after the present one; created like the log key."""
    return SecretKey.from_seed(_load_or_create(home.keys / NEXT_KEY, _new_seed).reveal())


def replacing(home: Home, public: bytes) -> bool:
    """Tell whether a change to this key was begun and did not end; raises like `log_key`."""
    if (home.keys / OLD_KEY).exists():
        return True
    found = _load(home.keys / NEXT_KEY)
    key = None if found is None else SecretKey.from_seed(found.reveal())
    return key is not None and key.wipe() and key.public == public


def replace_log_key(home: Home) -> None:
    """Put the next key in the place of the log key, and overwrite the old one.

    Killed at any step, the same call again goes on: the new key is in its place before the old one goes.

    Raises:
        UnavailableError: code `keys.unwritable`.
    """
    present, coming, old = (home.keys / name for name in (LOG_KEY, NEXT_KEY, OLD_KEY))
    try:
        if coming.exists():
            _set_aside(present, old)
            _take_place(coming, present)
        if old.exists():
            if not old.samefile(present):  # else the new key never came to its place
                _zero(old)
            old.unlink()
            sync(home.keys)
    except OSError as error:
        raise _unwritable(present, error) from error


def vault_key(home: Home) -> SecretBytes:
    """Load the 32-byte key that seals vault and payload keys; created like the log key."""
    return _load_or_create(home.keys / VAULT_KEY, lambda: SecretBytes(secrets.token_bytes(32)))


def witness_key(home: Home) -> SecretKey:
    """Load the key under which this home cosigns heads of other logs; created like the log key."""
    return SecretKey.from_seed(_load_or_create(home.keys / WITNESS_KEY, _new_seed).reveal())


def has_witness_key(home: Home) -> bool:
    """Tell whether this home was a witness before; raises like `log_key`."""
    return _load(home.keys / WITNESS_KEY) is not None


def _new_seed() -> SecretBytes:
    key = SecretKey.generate()
    try:
        return key.seed()
    finally:
        key.wipe()


def _load_or_create(path: Path, create: Callable[[], SecretBytes]) -> SecretBytes:
    found = _load(path)
    if found is not None:
        return found
    _publish(path, create())
    found = _load(path)
    if found is None:
        raise IntegrityError(f"key {path.name}: vanished while it was created", code="keys.file")
    return found


def _load(path: Path) -> SecretBytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IntegrityError(
            f"key {path.name}: cannot be opened as a plain file, {error.strerror}",
            code="keys.file",
            hint=f"look at {path}",
        ) from error
    try:
        return _checked(path, os.fstat(handle), os.read(handle, SEED_BYTES + 1))
    finally:
        os.close(handle)


def _checked(path: Path, found: os.stat_result, content: bytes) -> SecretBytes:
    ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()
    if not ours or found.st_mode & 0o077 or len(content) != SEED_BYTES:
        raise IntegrityError(
            f"key {path.name}: expected {SEED_BYTES} bytes in a file of ours with mode 0600",
            code="keys.file",
            hint=f"chmod 600 {path}",
        )
    return SecretBytes(content)


def _publish(path: Path, secret: SecretBytes) -> None:
    """Write aside, sync, then link: the link fails if another process was first."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(aside, flags, 0o600)
        try:
            os.write(handle, secret.reveal())
            os.fsync(handle)
        finally:
            os.close(handle)
        _link(aside, path)
    except OSError as error:
        raise _unwritable(path, error) from error


def _set_aside(present: Path, old: Path) -> None:
    """Give the old key a second name, so that it can be found again to be overwritten; raises OSError."""
    with contextlib.suppress(FileNotFoundError, FileExistsError):
        os.link(present, old, follow_symlinks=False)


def _take_place(coming: Path, present: Path) -> None:
    coming.replace(present)
    sync(present.parent)


def _zero(path: Path) -> None:
    """Put zeros where a seed was; raises OSError."""
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.write(handle, bytes(SEED_BYTES))
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> UnavailableError:
    return UnavailableError(
        f"key {path.name}: cannot be written, {error.strerror}",
        code="keys.unwritable",
        hint="check free space and the owner of the home, or set GHOST_HOME",
    )


def _link(aside: Path, path: Path) -> None:
    try:
        os.link(aside, path, follow_symlinks=False)
    except FileExistsError:
        return
    finally:
        aside.unlink()
