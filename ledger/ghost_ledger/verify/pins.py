"""The caller's keys. A verifier never takes a key from the thing it verifies, except to name it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ghost_core.errors import IntegrityError
from ghost_ledger.entry import session_name
from ghost_ledger.note import Vkey

__all__ = ["Pins", "match_session", "read_pins"]

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
    named, bare = list(listed), list[bytes]()
    name = session_name(log, sid)
    for text in keys:
        match = _RAW.match(text)
        if match is None:
            named.append(Vkey.parse(text))
        else:
            bare.append(Vkey(name, bytes.fromhex(match[1])).public)
    return Pins(
        given=bool(keys) or bool(listed),
        session=tuple(key for key in named if key.name == name),
        log=tuple(key for key in named if key.name == log),
        bare=tuple(bare),
    )


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
