"""Opening a log: create it once, else demand that it is ours, whole, and not behind its memory."""

from __future__ import annotations

import uuid
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import chain, heads, identity, schema, tiles
from ghost_ledger.chain import LogState
from ghost_ledger.note import Vkey
from ghost_ledger.tree import Frontier

__all__ = ["check_memory", "check_whole", "create", "open_log", "refuse_lost"]

_CREATE: Final = sa.text(
    'INSERT INTO log_head (origin, size, frontier, last_ts, vkey, "only")'
    " VALUES (:origin, 0, :frontier, 0, :vkey, 1)"
)
_LOST: Final = "where it is lost: ghost ledger continue --new-key --reason WHY"
_LAST: Final = sa.text("SELECT coalesce(max(idx), -1) + 1 FROM entries")


def open_log(engine: Engine, home: Home) -> LogState:
    """Check the log of a migrated database, or create it; a log is never created twice.

    Raises:
        IntegrityError: codes `ledger.triggers`, `ledger.head` (head and entries disagree),
            `ledger.rollback` (behind the head memory), `ledger.log_key` (key missing or another).
    """
    with db.read(engine) as connection:
        schema.check_guards(connection)
        state = chain.load_state(connection)
    if state is None:
        state = _create(engine, home)
    # The memory first: it is written after the commit, so what it knows the database must hold.
    known = heads.recall(home, state.origin)
    with db.read(engine) as connection:
        state = check_whole(connection, state)
        check_memory(connection, state, known)
    # After it: a database from before a change of the key went back, whatever key it asks for.
    _check_key(state, home, others_may=db.is_shared(engine))
    return state


def check_memory(connection: Connection, state: LogState, known: tuple[int, bytes] | None) -> None:
    """Refuse a log that does not contain the remembered head; recall it before reading `state`.

    Raises:
        IntegrityError: code `ledger.rollback`.
    """
    if known is None:
        return
    frontier = state.frontier
    cut = min(known[0], frontier.size)
    root = frontier.root() if cut == frontier.size else tiles.root_at(connection, cut)
    heads.compare(state.origin, known=known, found=(cut, root))


def refuse_lost(engine: Engine, home: Home) -> None:
    """Refuse a database without a log, where one is remembered to have been.

    Raises:
        IntegrityError: code `ledger.rollback`.
    """
    lost = heads.remembered_in(home, db.name(engine))
    if lost is not None:
        raise IntegrityError(
            f"database {lost.database}: expected log {lost.origin} with size {lost.size} "
            f"root {lost.root.hex()}, found no log",
            code="ledger.rollback",
            hint=heads.GO_ON,
        )


def _create(engine: Engine, home: Home) -> LogState:
    refuse_lost(engine, home)
    key = identity.log_key(home)
    public = key.public
    key.wipe()
    with db.write(engine) as connection:
        return chain.load_state(connection) or create(connection, public)  # or another was first


def create(connection: Connection, public: bytes) -> LogState:
    """Begin a log under a new name; raises IntegrityError `ledger.head` if there is one."""
    origin = f"ghost.local/{uuid.uuid4()}"
    vkey = Vkey(origin, public).format()
    row = {"origin": origin, "frontier": Frontier().encode(), "vkey": vkey}
    connection.execute(_CREATE, row)
    state = chain.load_state(connection)
    if state is None or state.origin != origin:
        raise IntegrityError(f"log {origin}: vanished while it was created", code="ledger.head")
    return state


def _check_key(state: LogState, home: Home, *, others_may: bool) -> None:
    """Demand the key of this log; in a shared database another home appends, but signs no head."""
    key = identity.key_of_log(home, Vkey.parse(state.vkey).public)
    if key is not None:
        key.wipe()
    elif not others_may:
        raise IntegrityError(
            f"log {state.origin}: expected the log key {state.vkey}, found {_found(state, home)}",
            code="ledger.log_key",
            hint=f"restore {home.keys / identity.LOG_KEY}; {_LOST}",
        )


def _found(state: LogState, home: Home) -> str:
    key = identity.existing_log_key(home)
    return "none" if key is None else Vkey(state.origin, key.public).format()


def check_whole(connection: Connection, state: LogState) -> LogState:
    """Return the log as it is now; raises IntegrityError `ledger.head` if head and entries disagree."""
    found = chain.load_state(connection) or state
    size = connection.execute(_LAST).scalar_one()
    if size != found.frontier.size:
        raise IntegrityError(
            f"log {found.origin}: its head says {found.frontier.size} entries, found {size}",
            code="ledger.head",
            hint=heads.GO_ON,
        )
    return found
