"""Changing the key of a log: entered under the old one, handed over by it, and then it is gone.

Killed at any step, the log has the key that its head names: the new one is on disk before the change is
committed, and the old one goes last. The same call again finishes what was begun.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import entry, handover, heads, identity, tiles
from ghost_ledger.checkpoint import sign_checkpoint
from ghost_ledger.handovers import KeptHandovers
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey
from ghost_ledger.recorder import Recorder

__all__ = ["Rotated", "finish", "rotate"]

_CHANGES: Final = sa.text("SELECT body, idx FROM entries WHERE type = 'log.key' ORDER BY idx DESC")


@dataclass(frozen=True, slots=True)
class Rotated:
    """A change of key: the head of `size` is the last that the old key signed, together with the new one."""

    origin: str
    old: str
    new: str
    size: int
    note: bytes
    head: Path = Path()
    finished: bool = False


def rotate(home: Home, recorder: Recorder, reason: str) -> Rotated:
    """Give the log a new key, or finish the change that was begun; the old key is wiped.

    Raises:
        IntegrityError: code `ledger.log_key`, this home does not hold the key of the log.
        UnavailableError: codes `keys.unwritable`, `heads.unwritable`; and as `Recorder.append`.
    """
    with heads.held(home.keys, "keys", code="keys.unwritable"):
        before = finish(home, recorder.engine, recorder.log_vkey)
        if before is not None:
            return replace(before, finished=True)
        _enter(home, recorder, reason)
        done = finish(home, recorder.engine, recorder.log_vkey)
    if done is None:
        raise IntegrityError(
            f"log {recorder.origin}: did not change its key", code="ledger.log_key"
        )
    return done


def finish(home: Home, engine: Engine, vkey: str) -> Rotated | None:
    """Finish the change to this key; None if there is none, or none that an entry tells of.

    Hold the folder of keys. Raises as `rotate`.
    """
    public = Vkey.parse(vkey).public
    if not identity.replacing(home, public):
        return None
    with db.read(engine) as connection:
        told = next((each for each in _told(connection) if each.new == vkey), None)
        root = tiles.root_at(connection, told.size) if told else b""
    if told is not None:
        heads.remember(home, told.origin, told.size, root, database=db.name(engine))
        told = replace(told, head=_kept(home, told, root))
    identity.replace_log_key(home)
    return told


def _enter(home: Home, recorder: Recorder, reason: str) -> None:
    old = identity.key_of_log(home, Vkey.parse(recorder.log_vkey).public)
    if old is None:
        raise IntegrityError(
            f"log {recorder.origin}: this home does not hold its key {recorder.log_vkey}",
            code="ledger.log_key",
            hint="change it in the home that made the log",
        )
    new = identity.next_log_key(home)
    try:
        recorder.rekey(old, new, reason)
    finally:
        old.wipe()
        new.wipe()


def _kept(home: Home, told: Rotated, root: bytes) -> Path:
    """Keep note and head, as long as the old key is there to sign; without it they are kept already."""
    place = KeptHandovers.of(home, told.origin)
    publics = [Vkey.parse(each).public for each in (told.old, told.new)]
    keys = [key for public in publics if (key := identity.key_of_log(home, public)) is not None]
    try:
        if len(keys) < len(publics):
            return place.head(told.size)
        return place.keep(told.size, told.note, _signed(keys, told.origin, told.size, root))
    finally:
        for key in keys:
            key.wipe()


def _signed(keys: list[SecretKey], origin: str, size: int, root: bytes) -> bytes:
    first, second = (sign_checkpoint(key, origin, size, root) for key in keys)
    return handover.merged(first, second)


def _told(connection: Connection) -> Iterator[Rotated]:
    """Yield the changes that entries tell of, the newest first."""
    for row in connection.execute(_CHANGES):
        said = entry.parse(row.body)
        old, new, note = (str(said.fields.get(name)) for name in ("revoked", "vkey", "note"))
        yield Rotated(said.log, old, new, row.idx + 1, note.encode())
