"""What the dead left open (contract §3): sessions that nobody owns are sealed at their end, or given up.

An owner seals its session itself. Only where none lives any more does the next command do it: with
the key file the session is sealed (reason `ttl`), without it the system session writes down that it
was abandoned. A session whose folder is nowhere to be seen may live under another runtime folder,
so it is given up only after its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlmodel import Session, col, select

from ghost_core import db, ids
from ghost_core.clock import Clock
from ghost_core.errors import IntegrityError, NotFoundError, UnavailableError
from ghost_core.paths import Home, runtime_dir
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import lifetime, token_keys
from ghost_ledger.session.closing import closed_fields
from ghost_ledger.session.custody import Custody, discard, has_key, is_owned
from ghost_ledger.session.runtime import SessionFolder
from ghost_ledger.session.tally import Tally
from ghost_ledger.store import SessionRow

GRACE_US: Final = 60 * 1_000_000

_PENDING = sa.text("SELECT COUNT(*) FROM actions WHERE session_id = :sid AND status = 'pending'")


@dataclass(frozen=True, slots=True)
class Swept:
    """What became of one session; `recovered` lives on, of a `removed` one only the folder was left."""

    sid: str
    outcome: Literal["sealed", "abandoned", "recovered", "removed"]


def due(engine: Engine, clock: Clock, *, root: Path | None = None) -> list[SessionRow]:
    """Return the open sessions that have no owner and something to write down; reads only.

    Raises:
        UnavailableError: as `db.read`.
    """
    folder = root or runtime_dir()
    found = [row for row in _open(engine) if _has_ended(engine, row, clock, folder)]
    found += _left_behind(engine, folder)
    return [row for row in found if not is_owned(row.session_id, root=folder)]


def sweep(
    recorder: Recorder, home: Home, clock: Clock, *, root: Path | None = None
) -> tuple[Swept, ...]:
    """Seal or give up every open session that has no owner; others are left alone.

    Server keys whose last token has ended go too.

    Raises:
        UnavailableError: the ledger cannot be written.
    """
    folder = root or runtime_dir()
    token_keys.forget_ended(home, clock=clock)
    found = (
        _sweep_one(recorder, row, clock, folder) for row in due(recorder.engine, clock, root=folder)
    )
    return tuple(each for each in found if each is not None)


def _open(engine: Engine) -> Sequence[SessionRow]:
    """Return what is neither sealed nor abandoned, sessions of dead recorders included."""
    query = select(SessionRow).where(col(SessionRow.status) == "live")
    with db.mapped(engine), Session(engine, expire_on_commit=False) as orm:
        return orm.exec(query.order_by(col(SessionRow.spawned_at))).all()


def _left_behind(engine: Engine, root: Path) -> Sequence[SessionRow]:
    """Return ended sessions whose folder is still there: their owner died between seal and wipe."""
    names = [path.name for path in root.iterdir() if ids.is_session_id(path.name)]
    query = select(SessionRow).where(
        col(SessionRow.status) != "live", col(SessionRow.session_id).in_(names)
    )
    with db.mapped(engine), Session(engine, expire_on_commit=False) as orm:
        return orm.exec(query).all() if names else ()


def _has_ended(engine: Engine, row: SessionRow, clock: Clock, root: Path) -> bool:
    if has_key(row.session_id, root=root):
        return lifetime.expired(row, clock) or _unanswered(engine, row.session_id)
    return _is_lost(engine, row, clock, root)


def _is_lost(engine: Engine, row: SessionRow, clock: Clock, root: Path) -> bool:
    """A folder without key is a dead owner's; without a folder here, only time tells.

    In a shared database a session of another boot may live on another machine, whose clock we do not
    have: there the wall clock tells.
    """
    if SessionFolder(row.session_id, root).path.is_dir():
        return True
    if row.boot == clock.boot_id():
        return clock.boottime_us() >= row.deadline + GRACE_US
    return not db.is_shared(engine) or clock.now_us() >= row.expires_at + GRACE_US


def _unanswered(engine: Engine, sid: str) -> bool:
    with db.read(engine) as connection:
        return bool(connection.execute(_PENDING, {"sid": sid}).scalar())


def _sweep_one(recorder: Recorder, row: SessionRow, clock: Clock, root: Path) -> Swept | None:
    """Hold the lock while we look, so that nobody becomes the owner in between."""
    sid = row.session_id
    if row.status != "live":
        return Swept(sid, "removed") if discard(sid, root=root) else None
    try:
        custody = Custody.acquire(sid, root=root)
    except UnavailableError:
        return None  # somebody was faster, or the folder is not ours to judge
    except (NotFoundError, IntegrityError):
        return _abandon(recorder, row, clock, root)
    try:
        return _with_key(recorder, row, custody, clock)
    except IntegrityError as error:
        if error.code != "ledger.key":
            raise
        custody.destroy()  # a key of another session cannot go on with this one
        return Swept(sid, "abandoned") if _recover(recorder, sid, can_continue=False) else None
    finally:
        custody.release()


def _with_key(recorder: Recorder, row: SessionRow, custody: Custody, clock: Clock) -> Swept | None:
    sid = row.session_id
    recovered = _recover(recorder, sid, can_continue=True)
    if not lifetime.expired(row, clock):
        return Swept(sid, "recovered") if recovered else None
    recorder.attach(sid, custody.key)
    try:
        recorder.seal(
            sid,
            closed_fields(
                recorder.engine,
                sid,
                Tally.load(custody.folder.path),
                reason="ttl",
                lived_seconds=row.ttl_seconds,
            ),
        )
    finally:
        recorder.detach(sid)
    custody.destroy()
    return Swept(sid, "sealed")


def _abandon(recorder: Recorder, row: SessionRow, clock: Clock, root: Path) -> Swept | None:
    sid = row.session_id
    if not _is_lost(recorder.engine, row, clock, root) or not discard(sid, root=root):
        return None
    return Swept(sid, "abandoned") if _recover(recorder, sid, can_continue=False) else None


def _recover(recorder: Recorder, sid: str, *, can_continue: bool) -> Sequence[object]:
    if can_continue and not _unanswered(recorder.engine, sid):
        return ()
    return recorder.recover(lambda each: each == sid, can_continue=lambda _: can_continue)
