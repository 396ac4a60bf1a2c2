"""X-Ghost-Token, as an upstream gets it: who acts, which action, for which host, until when.

Signed by the session's `wire_key`, never by the key that signs notes. It does not open the proxy.
Form: `ghwire_`, base64url of the GJ1 claims, a dot, base64url of the signature (no padding).
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from functools import lru_cache

from ghost_core.errors import DeniedError, IntegrityError
from ghost_ledger import canonical
from ghost_ledger.keys import SecretKey, check_public, verify

__all__ = ["Claims", "check", "issue"]

_PREFIX = "ghwire_"
_LABEL = b"ghost-wire-token-v1\n"
_LIMIT = 1024
_ID = re.compile(r"[A-Za-z0-9_]{1,64}\Z")
_ANY = "act_" + "*" * 32  # no id has a star, and sorted names put the action first


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token says; `expires_at_s` is seconds since the epoch."""

    sid: str
    action_id: str
    host: str
    expires_at_s: int


def issue(key: SecretKey, *, sid: str, action_id: str, host: str, expires_at_s: int) -> str:
    """Return the token of one action for one host."""
    before, after = _frame(sid, host, expires_at_s)
    body = before + _plain(action_id) + after
    return f"{_PREFIX}{_encode(body)}.{_encode(key.sign(_LABEL + body))}"


@lru_cache(maxsize=256)
def _frame(sid: str, host: str, expires_at_s: int) -> tuple[bytes, bytes]:
    """Return the claims before and after the action, which is all that differs between two calls."""
    claims: dict[str, canonical.Value] = {
        "v": 1,
        "sid": sid,
        "action": _ANY,
        "host": host,
        "exp": expires_at_s,
    }
    before, _, after = canonical.encode(claims).partition(_ANY.encode())
    return before, after


def _plain(action_id: str) -> bytes:
    if _ID.match(action_id) is None:  # anything else could need an escape
        raise _broken("expected the id of an action")
    return action_id.encode("ascii")


def check(token: str, public: bytes, *, now_s: int, host: str) -> Claims:
    """Check a token that reached `host` under the session's public wire key.

    Raises:
        IntegrityError: not a token, or not signed by this key (codes `wire.malformed`, `ledger.*`).
        DeniedError: for another host, or expired (codes `wire.host`, `wire.expired`).
    """
    body, signature = _split(token)
    check_public(public)
    verify(public, _LABEL + body, signature)
    claims = _claims(body)
    if claims.host != host:
        raise DeniedError(f"token: issued for {claims.host}, not {host}", code="wire.host")
    if now_s >= claims.expires_at_s:
        raise DeniedError(f"token: expired at {claims.expires_at_s}", code="wire.expired")
    return claims


def _split(token: str) -> tuple[bytes, bytes]:
    body, dot, signature = token.removeprefix(_PREFIX).partition(".")
    if len(token) > _LIMIT or not token.startswith(_PREFIX) or not dot:
        raise _broken("expected ghwire_ and two parts")
    return _decode(body), _decode(signature)


def _claims(body: bytes) -> Claims:
    match canonical.decode(body):
        case {"v": 1, "sid": str(sid), "action": str(action), "host": str(host), "exp": int(exp)}:
            return Claims(sid, action, host, exp)
        case _:
            raise _broken("unknown version or claims")


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise _broken("not base64url") from error
    if _encode(raw) != text:
        raise _broken("base64url not in canonical form")
    return raw


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"token: {reason}", code="wire.malformed")
