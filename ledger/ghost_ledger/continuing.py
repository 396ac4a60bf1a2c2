"""Going on in a log under a new name, where the old one went back, was forked, or has a key that others know.

The new log begins with an entry that commits to the head that is remembered of the old one. In SQLite the
whole database is copied first, as it is; then, in one transaction, the tables of the ledger start anew in the
file that is in use, and all other tables stay. A shared database is not emptied: there the old one is kept
under another name by hand, and the new log begins in an empty one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db, ids
from ghost_core.clock import Clock
from ghost_core.errors import DeniedError, IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger import aside, bundling, chain, entry, heads, identity, opening, rotating
from ghost_ledger.batch import Batch
from ghost_ledger.canonical import Value
from ghost_ledger.chain import LogState
from ghost_ledger.drafts import Draft
from ghost_ledger.handovers import KeptHandovers
from ghost_ledger.heads import RememberedHead
from ghost_ledger.note import Vkey
from ghost_ledger.payloads import DataKeys
from ghost_ledger.system import SystemSession

__all__ = ["NewLog", "go_on"]

_LIVE: Final = sa.text("SELECT session_id FROM sessions WHERE status = 'live' AND NOT system")
_THIRD: Final = sa.text("SELECT body FROM entries WHERE idx = 2 AND type = 'log.continued'")
_ANY: Final = sa.text("SELECT 1 FROM entries LIMIT 1")
_BROKEN: Final = frozenset({"ledger.rollback", "ledger.fork", "ledger.head"})


@dataclass(frozen=True, slots=True)
class NewLog:
    """The log that goes on, the head it commits to, where the old one is kept, which sessions are over."""

    origin: str
    vkey: str
    old: RememberedHead
    old_vkey: str
    kept: Path | None
    over: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left behind: its remembered head, its key where it can be read, its live sessions."""

    head: RememberedHead
    vkey: str
    live: tuple[str, ...]
    stored: bool
    whole: LogState | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """What the new log says of the old one."""

    old: RememberedHead
    reason: str

    def draft(self, sid: str) -> Draft:
        """Return the entry."""
        fields: dict[str, Value] = {
            "origin": self.old.origin,
            "size": self.old.size,
            "root": self.old.root.hex(),
            "reason": self.reason,
        }
        return Draft(sid, "log.continued", ids.entry_id(), fields)


def go_on(engine: Engine, home: Home, clock: Clock, *, reason: str, new_key: bool) -> NewLog:
    """Begin the new log; where that was done and the change of its key was not, only finish that.

    Raises:
        DeniedError: codes `ledger.whole`, there is nothing to leave; `ledger.shared`, see above.
        NotFoundError: code `ledger.missing`, there never was a log.
        IntegrityError: codes `ledger.triggers`, `keys.file`.
        UnavailableError: as `db.write`; the copy cannot be written.
    """
    if not db.exists(engine) and heads.remembered_in(home, db.name(engine)) is None:
        raise _never(engine)
    with heads.held(home.keys, "keys", code="keys.unwritable"):
        db.migrate(engine)
        done = _finished(engine, home)
        if done is not None:
            return done
        with db.write(engine) as connection:
            left = _left(connection, engine, home, new_key=new_key)
            kept = aside.put(connection, engine, left.head.origin) if left.stored else None
            if left.whole is not None:
                _keep_last(home, left.whole)
            state = opening.create(connection, _public(home, new_key=new_key))
            state = _begun(connection, home, state, _Said(left.head, reason), clock)
        size, root = state.frontier.size, state.frontier.root()
        heads.remember(home, state.origin, size, root, database=db.name(engine))
        if new_key:
            identity.replace_log_key(home)
    return NewLog(state.origin, state.vkey, left.head, left.vkey, kept, left.live)


def _finished(engine: Engine, home: Home) -> NewLog | None:
    """Finish a change of key that was begun; return the log if it was one that began with it."""
    with db.read(engine) as connection:
        state, broken = _looked(connection, home)
        begun = state is not None and identity.replacing(home, Vkey.parse(state.vkey).public)
        said = None if state is None else connection.execute(_THIRD).first()
    if state is None or broken or not begun:
        return None
    changed = rotating.finish(home, engine, state.vkey)
    if changed is not None or said is None:
        return None
    fields = entry.parse(said.body).fields
    head = RememberedHead(
        str(fields["origin"]), int(str(fields["size"])), bytes.fromhex(str(fields["root"]))
    )
    return NewLog(state.origin, state.vkey, head, "", None, ())


def _public(home: Home, *, new_key: bool) -> bytes:
    key = identity.next_log_key(home) if new_key else identity.log_key(home)
    key.wipe()
    return key.public


def _left(connection: Connection, engine: Engine, home: Home, *, new_key: bool) -> _Left:
    """Return what there is to leave; raises where there is nothing."""
    database = db.name(engine)
    stored = connection.execute(_ANY).first() is not None
    state, broken = _looked(connection, home)
    if state is None:
        found = heads.remembered_in(home, database)
        if found is None:
            raise _never(engine)
        return _Left(found, "", (), stored)
    if not broken and not new_key:
        raise DeniedError(
            f"log {state.origin}: is not behind the head that is remembered of it",
            code="ledger.whole",
            hint="ghost ledger rotate-key changes its key; --new-key leaves it, where others know its key",
        )
    known = heads.recall(home, state.origin) if broken else None
    size, root = known or (state.frontier.size, state.frontier.root())
    heads.remember(home, state.origin, size, root, database=database)
    live = tuple(connection.execute(_LIVE).scalars())
    head, whole = RememberedHead(state.origin, size, root, database), None if broken else state
    return _Left(head, state.vkey, live, stored=True, whole=whole)


def _keep_last(home: Home, state: LogState) -> None:
    """Keep a last head of a log whose key goes, so that bundles can still be made of it."""
    key = identity.key_of_log(home, Vkey.parse(state.vkey).public)
    if key is not None:
        key.wipe()
        KeptHandovers.of(home, state.origin).keep_last(bundling.sign_head(home, state))


def _never(engine: Engine) -> NotFoundError:
    return NotFoundError(
        f"database {db.name(engine)}: this home remembers no log in it", code="ledger.missing"
    )


def _looked(connection: Connection, home: Home) -> tuple[LogState | None, bool]:
    """Return the log, and whether it is not the one that is remembered."""
    state = None
    try:
        state = chain.load_state(connection)
        if state is not None:
            opening.check_whole(connection, state)
            opening.check_memory(connection, state, heads.recall(home, state.origin))
    except IntegrityError as error:
        if error.code not in _BROKEN:
            raise
        return state, True
    return state, False


def _begun(
    connection: Connection, home: Home, state: LogState, said: _Said, clock: Clock
) -> LogState:
    """Fill a log with a system session that says from where it goes on, and is over with that."""
    system = SystemSession(state.origin, state.vkey, clock)
    try:
        keys, signers = DataKeys(identity.vault_key(home)), {system.sid: system.signer}
        batch = Batch(connection, state, signers, {}, keys, clock.now_us())
        batch.append([system.spawn(), system.init(), said.draft(system.sid)])
        closed = Draft(system.sid, "session.closed", ids.entry_id(), system.closed_fields())
        batch.append_seal(system.sid, closed, ids.entry_id())
        batch.finish()
    finally:
        system.destroy()
    return batch.state
