"""The caller's keys. A verifier never takes a key from the thing it verifies, except to name it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ghost_core.errors import IntegrityError
from ghost_ledger.entry import session_name
from ghost_ledger.keys import check_public
from ghost_ledger.note import Vkey

__all__ = ["Pins", "match_session", "read_key", "read_pins"]

_RAW = re.compile(r"ed25519_public_([0-9a-f]{64})\Z")


@dataclass(frozen=True, slots=True)
class Pins:
    """Keys that bear the session's name, keys that bear the log's name, and bare public keys."""

    given: bool
    session: tuple[Vkey, ...]
    log: tuple[Vkey, ...]
    bare: tuple[bytes, ...]


def read_pins(keys: Sequence[str], log: str, sid: str, *, listed: Sequence[Vkey] = ()) -> Pins:
    """Sort the caller's keys by what they name; keys of other sessions and logs fall out.

    `listed` are the logs of the caller's policy.

    Raises:
        IntegrityError: a text that is neither a vkey line nor `ed25519_public_` and 64 hex digits.
    """
    read = [read_key(text) for text in keys]
    named = [*listed, *(key for key in read if isinstance(key, Vkey))]
    name = session_name(log, sid)
    return Pins(
        given=bool(keys) or bool(listed),
        session=tuple(key for key in named if key.name == name),
        log=tuple(key for key in named if key.name == log),
        bare=tuple(key for key in read if isinstance(key, bytes)),
    )


def read_key(text: str) -> Vkey | bytes:
    """Read one key as a caller gives it: a vkey line, or a public key that bears no name.

    Raises:
        IntegrityError: neither a vkey line nor `ed25519_public_` and 64 hex digits of a sound key.
    """
    match = _RAW.match(text)
    if match is None:
        return Vkey.parse(text)
    public = bytes.fromhex(match[1])
    check_public(public)
    return public


def match_session(pins: Pins, used: Vkey) -> bool:
    """Tell whether a pinned key is the one this session used.

    Raises:
        IntegrityError: a key is pinned under the session's name, and it is another one.
    """
    for key in pins.session:
        if key != used:
            raise IntegrityError(
                f"key {key.format()} is not the session's, which is {used.format()}",
                code="ledger.key",
            )
    return bool(pins.session) or used.public in pins.bare
