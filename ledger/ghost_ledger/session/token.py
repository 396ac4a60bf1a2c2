"""The session token: `ghtoken_` and what the server needs to know its own work again (contract §3).

Layout before base64url: key id (4) ‖ session uuid (16) ‖ expiry in µs (8) ‖ HMAC-SHA-256 (32). The
server keys live in `keys/token_keys.json`; a new one is made each week, and an old one stays until
its last token has ended. Nothing is stored per token but its digest, so a live session's token can
be made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ghost_core import ids
from ghost_core.clock import Clock
from ghost_core.errors import DeniedError, IntegrityError, UnavailableError, UsageError
from ghost_core.files import write_file
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_ledger.session.lifetime import Lived, expired
from ghost_ledger.session.residual import erase

PREFIX = b"ghtoken_"
ROTATION_US = 7 * 86_400 * 1_000_000

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_SHAPE = re.compile(rb"ghtoken_[A-Za-z0-9_-]{80}\Z")
_CONTEXT = b"ghost-token-v1\0"
_SCHEMA = "ghost/token-keys/v1"
_KEYS = "token_keys.json"
_FILE_LIMIT = 1 << 20
_HINT = "ghost possess --env --session-id ID prints the token of a live session"


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a genuine token says: whose it is, and when it ends (µs since the epoch)."""

    sid: str
    expires_at_us: int


@dataclass(frozen=True, slots=True)
class _ServerKey:
    key_id: bytes
    secret: SecretBytes
    made_at_us: int
    last_expiry_us: int


def issue(
    home: Home, sid: str, expires_at_us: int, *, clock: Clock, expected: str | None = None
) -> SecretBytes:
    """Return the session's token; the same session, expiry and server key give the same bytes.

    With `expected`, the digest that was recorded at the spawn, the key that made it is looked for
    and nothing new is made.

    Raises:
        DeniedError: code `session.token.key`, no kept key makes a token with the expected digest.
        UnavailableError: the key file cannot be read or written, or others may read it.
    """
    uuid = _uuid(sid)
    if expected is None:
        return _make(_current(home, expires_at_us, clock), uuid, expires_at_us)
    for key in _load(home):
        token = _make(key, uuid, expires_at_us)
        if hmac.compare_digest(digest(token), expected):
            return token
        token.wipe()
    raise _denied("key", f"session {sid}: the server key of its token is gone")


def check(
    home: Home,
    token: bytes,
    *,
    clock: Clock,
    sid: str | None = None,
    lived: Lived | None = None,
) -> TokenClaims:
    """Return what the token says, once it is ours and alive.

    `sid` is the session that it must belong to. `lived`, that session's lifetime, judges the expiry
    by the boot clock; without it the wall clock does.

    Raises:
        DeniedError: code `session.token.` and `malformed`, `key`, `mac`, `session` or `expired`.
    """
    raw = _decode(token)
    claims = TokenClaims("gh_" + raw[4:20].hex(), int.from_bytes(raw[20:28]))
    _check_mac(home, raw)
    if sid is not None and not hmac.compare_digest(sid.encode(), claims.sid.encode()):
        raise _denied("session", f"session {sid}: the token belongs to another session")
    over = expired(lived, clock) if lived is not None else clock.now_us() >= claims.expires_at_us
    if over:
        raise _denied("expired", f"session {claims.sid}: its token has ended")
    return claims


def digest(token: SecretBytes | bytes) -> str:
    """Return the SHA-256 of a token, 64 hex: the only form in which it is stored."""
    if not isinstance(token, SecretBytes):
        return hashlib.sha256(token).hexdigest()
    revealed = token.reveal()
    try:
        return hashlib.sha256(revealed).hexdigest()
    finally:
        erase(revealed)


def forget_ended(home: Home, *, clock: Clock) -> None:
    """Drop the server keys whose last token has ended; the key in use stays.

    Raises:
        UnavailableError: the key file cannot be read or written, or others may read it.
    """
    now = clock.now_us()
    if all(_wanted(key, now) for key in _load(home)):
        return
    with _locked(home):
        _store(home, [key for key in _load(home) if _wanted(key, now)])


def _make(key: _ServerKey, uuid: bytes, expires_at_us: int) -> SecretBytes:
    head = key.key_id + uuid + expires_at_us.to_bytes(8)
    mac = _mac(key.secret, head)
    text = _encode(head, mac)
    erase(mac)
    try:
        return SecretBytes(text)
    finally:
        erase(text)


def _encode(head: bytes, mac: bytes) -> bytes:
    """Write base64url by hand: the library would leave the token in buffers that nobody wipes."""
    raw = bytearray(head)
    raw += mac
    text = bytearray(PREFIX)
    for at in range(0, len(raw), 3):
        bits = raw[at] << 16 | raw[at + 1] << 8 | raw[at + 2]
        text += bytes(_ALPHABET[bits >> shift & 63] for shift in (18, 12, 6, 0))
    try:
        return bytes(text)
    finally:
        erase(raw)
        erase(text)


def _decode(token: bytes) -> bytes:
    if _SHAPE.match(token) is None:
        raise _denied("malformed", "token: expected ghtoken_ and 80 characters of base64url")
    raw = bytearray()
    for at in range(len(PREFIX), len(token), 4):
        bits = 0
        for letter in token[at : at + 4]:
            bits = bits << 6 | _ALPHABET.index(letter)
        raw += bits.to_bytes(3)
    return bytes(raw)


def _check_mac(home: Home, raw: bytes) -> None:
    known = [key for key in _load(home) if key.key_id == raw[:4]]
    if not known:
        raise _denied("key", "token: no server key has its key id")
    if not any(hmac.compare_digest(_mac(key.secret, raw[:28]), raw[28:]) for key in known):
        raise _denied("mac", "token: it was changed, or we did not make it")


def _mac(secret: SecretBytes, head: bytes) -> bytes:
    revealed = secret.reveal()
    try:
        return hmac.digest(revealed, _CONTEXT + head, "sha256")
    finally:
        erase(revealed)


def _uuid(sid: str) -> bytes:
    if not ids.is_session_id(sid):
        raise UsageError(
            f"session id {sid[:64]!r}: expected gh_ and 32 hex digits", code="session.id"
        )
    return bytes.fromhex(sid[3:])


def _denied(reason: str, message: str) -> DeniedError:
    return DeniedError(message, code=f"session.token.{reason}", hint=_HINT)


def _current(home: Home, expires_at_us: int, clock: Clock) -> _ServerKey:
    """Return this week's key, made if need be, after it has been noted how long its tokens live."""
    now = clock.now_us()
    with _locked(home):
        keys = [key for key in _load(home) if _wanted(key, now)]
        if not keys or not _fresh(keys[-1], now):
            keys.append(_new_key(keys, now))
        newest = keys[-1]
        keys[-1] = replace(newest, last_expiry_us=max(newest.last_expiry_us, expires_at_us))
        _store(home, keys)
        return keys[-1]


def _wanted(key: _ServerKey, now_us: int) -> bool:
    return key.last_expiry_us > now_us or _fresh(key, now_us)


def _fresh(key: _ServerKey, now_us: int) -> bool:
    return abs(now_us - key.made_at_us) < ROTATION_US


def _new_key(keys: list[_ServerKey], now_us: int) -> _ServerKey:
    taken = {key.key_id for key in keys}
    key_id = secrets.token_bytes(4)
    while key_id in taken:
        key_id = secrets.token_bytes(4)
    return _ServerKey(key_id, SecretBytes(secrets.token_bytes(32)), now_us, 0)


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


def _store(home: Home, keys: list[_ServerKey]) -> None:
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


def _load(home: Home) -> list[_ServerKey]:
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


def _parse(path: Path, data: bytes) -> list[_ServerKey]:
    try:
        document = json.loads(data)
        return [_server_key(row) for row in {_SCHEMA: document["keys"]}[document["schema"]]]
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"{str(path)!r}: not a file of server keys",
            code="session.token.keys",
            hint=f"mv {path} {path}.broken  # every live session ends",
        ) from error


def _server_key(row: dict[str, Any]) -> _ServerKey:
    return _ServerKey(
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
