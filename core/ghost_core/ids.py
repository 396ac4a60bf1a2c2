"""Ids: a prefix and a UUIDv7 (RFC 9562 §5.7) in hex, so that they sort by time and name their kind."""

from __future__ import annotations

import os
import re
import time

_SESSION = re.compile(r"gh_[0-9a-f]{32}\Z")


def uuid7_hex(*, now_ms: int | None = None) -> str:
    """Return 32 hex digits: 48 bits of milliseconds, then version, variant and 74 random bits."""
    stamp = (time.time_ns() // 1_000_000 if now_ms is None else now_ms) & (2**48 - 1)
    tail = int.from_bytes(os.urandom(10)) >> 6
    value = stamp << 80 | 0x7 << 76 | (tail >> 62) << 64 | 0b10 << 62 | tail & (2**62 - 1)
    return f"{value:032x}"


def session_id() -> str:
    """Return a new `gh_…` id."""
    return "gh_" + uuid7_hex()


def action_id() -> str:
    """Return a new `act_…` id."""
    return "act_" + uuid7_hex()


def entry_id() -> str:
    """Return a new `ent_…` id for an entry that belongs to no action."""
    return "ent_" + uuid7_hex()


def is_session_id(text: str) -> bool:
    """Tell whether the text has the shape of a session id; also what makes it safe in a path."""
    return _SESSION.match(text) is not None
