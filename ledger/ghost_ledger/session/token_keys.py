"""The server keys of session tokens: one a week, kept until its last token has ended, in a private file."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ghost_core.clock import Clock
from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.files import write_file
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes

__all__ = ["ROTATION_US", "ServerKey", "current", "forget_ended", "load"]

ROTATION_US = 7 * 86_400 * 1_000_000

_SCHEMA = "ghost/token-keys/v1"
_KEYS = "token_keys.json"
_FILE_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class ServerKey:
    """A key, when it was made, and when the last of its tokens ends (µs since the epoch)."""

    key_id: bytes
    secret: SecretBytes
    made_at_us: int
    last_expiry_us: int


def current(home: Home, expires_at_us: int, clock: Clock) -> ServerKey:
    """Return this week's key, made if need be, after it has been noted how long its tokens live."""
    now = clock.now_us()
    with _locked(home):
        keys = [key for key in load(home) if _wanted(key, now)]
        if not keys or not _fresh(keys[-1], now):
            keys.append(_new_key(keys, now))
        newest = keys[-1]
        keys[-1] = replace(newest, last_expiry_us=max(newest.last_expiry_us, expires_at_us))
        _store(home, keys)
        return keys[-1]


def forget_ended(home: Home, *, clock: Clock) -> None:
    """Drop the server keys whose last token has ended; the key in use stays.

    Raises:
        UnavailableError: the key file cannot be read or written, or others may read it.
    """
    now = clock.now_us()
    if all(_wanted(key, now) for key in load(home)):
        return
    with _locked(home):
        _store(home, [key for key in load(home) if _wanted(key, now)])


def load(home: Home) -> list[ServerKey]:
    """Return the kept keys, oldest first; an absent file is an empty list."""
    path = home.keys / _KEYS
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unusable(path, error.strerror or "an error") from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if not ours or found.st_mode & 0o077:
            raise _unusable(path, f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}")
        data = file.read(_FILE_LIMIT)
    return _parse(path, data)


def _wanted(key: ServerKey, now_us: int) -> bool:
    return key.last_expiry_us > now_us or _fresh(key, now_us)


def _fresh(key: ServerKey, now_us: int) -> bool:
    return abs(now_us - key.made_at_us) < ROTATION_US


def _new_key(keys: list[ServerKey], now_us: int) -> ServerKey:
    taken = {key.key_id for key in keys}
    key_id = secrets.token_bytes(4)
    while key_id in taken:
        key_id = secrets.token_bytes(4)
    return ServerKey(key_id, SecretBytes(secrets.token_bytes(32)), now_us, 0)


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    path = home.ensure().keys / "token_keys.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise _unusable(path, error.strerror or "an error") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _store(home: Home, keys: list[ServerKey]) -> None:
    document = {
        "schema": _SCHEMA,
        "keys": [
            {
                "id": key.key_id.hex(),
                "key": key.secret.reveal().hex(),
                "made_at_us": key.made_at_us,
                "last_expiry_us": key.last_expiry_us,
            }
            for key in keys
        ],
    }
    write_file(home.keys / _KEYS, json.dumps(document, indent=1).encode() + b"\n", mode=0o600)


def _parse(path: Path, data: bytes) -> list[ServerKey]:
    try:
        document = json.loads(data)
        return [_server_key(row) for row in {_SCHEMA: document["keys"]}[document["schema"]]]
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"{str(path)!r}: not a file of server keys",
            code="session.token.keys",
            hint=f"mv {path} {path}.broken  # every live session ends",
        ) from error


def _server_key(row: dict[str, Any]) -> ServerKey:
    return ServerKey(
        bytes.fromhex(row["id"]),
        SecretBytes(bytes.fromhex(row["key"])),
        int(row["made_at_us"]),
        int(row["last_expiry_us"]),
    )


def _unusable(path: Path, found: str) -> UnavailableError:
    return UnavailableError(
        f"{str(path)!r}: expected ours with mode 0600, found {found}",
        code="session.token.keys",
        hint=f"chmod 600 {path}",
    )
