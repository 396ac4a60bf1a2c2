"""The session token: `ghtoken_` and what the server needs to know its own work again (contract §3).

Layout before base64url: key id (4) ‖ session uuid (16) ‖ expiry in µs (8) ‖ HMAC-SHA-256 (32). The
server keys are those of `token_keys`. Nothing is stored per token but its digest, so a live session's
token can be made again.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

from ghost_core import ids
from ghost_core.clock import Clock
from ghost_core.errors import DeniedError, UsageError
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_ledger.session import token_keys
from ghost_ledger.session.lifetime import Lived, expired
from ghost_ledger.session.residual import erase
from ghost_ledger.session.token_keys import ServerKey

PREFIX = b"ghtoken_"

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_SHAPE = re.compile(rb"ghtoken_[A-Za-z0-9_-]{80}\Z")
_CONTEXT = b"ghost-token-v1\0"
_HINT = "ghost possess --env --session-id ID prints the token of a live session"


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a genuine token says: whose it is, and when it ends (µs since the epoch)."""

    sid: str
    expires_at_us: int


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
        return _make(token_keys.current(home, expires_at_us, clock), uuid, expires_at_us)
    for key in token_keys.load(home):
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


def _make(key: ServerKey, uuid: bytes, expires_at_us: int) -> SecretBytes:
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
    known = [key for key in token_keys.load(home) if key.key_id == raw[:4]]
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
