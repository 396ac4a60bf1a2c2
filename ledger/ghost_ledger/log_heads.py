"""The heads of the log in a database: signed by this home, remembered before they leave, and proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.engine import Engine

from ghost_core import db
from ghost_core.errors import IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger import bundling, chain, heads, opening, tiles, tree
from ghost_ledger.bundle import Bundle, Consistency
from ghost_ledger.chain import LogState
from ghost_ledger.checkpoint import Checkpoint, parse_checkpoint
from ghost_ledger.note import Vkey, split

__all__ = ["LogHeads"]


class LogHeads:
    """Signs and proves heads; every method raises UnavailableError as `db.read`."""

    def __init__(self, engine: Engine, home: Home) -> None:
        self._engine = engine
        self._home = home

    def sign(self, *, leaves: bool = True) -> tuple[Vkey, bytes]:
        """Return the log's key and its newest head, remembered on disk before this returns it.

        One that is only looked at here (`leaves` false) is not: a look must not teach us what a lost
        memory should have known.

        Raises:
            NotFoundError: code `ledger.missing`, there is no log.
            IntegrityError: codes `ledger.rollback`, `ledger.fork`, `ledger.log_key`.
        """
        state = self._checked(leaves=leaves)
        try:
            return Vkey.parse(state.vkey), bundling.sign_head(self._home, state)
        except IntegrityError:
            # Between our look at the log and at the key, the key may have been changed.
            again = self._checked(leaves=leaves)
            if again.vkey == state.vkey:
                raise
            return Vkey.parse(again.vkey), bundling.sign_head(self._home, again)

    def _checked(self, *, leaves: bool) -> LogState:
        """Return the newest head, held against what is remembered, and remembered."""
        with db.read(self._engine) as connection:
            state = chain.load_state(connection)
        # The memory first: what it knows, the database must hold when it is read again.
        known = None if state is None else heads.recall(self._home, state.origin)
        with db.read(self._engine) as connection:
            state = chain.load_state(connection)
            if state is None:
                opening.refuse_lost(self._engine, self._home)
                raise NotFoundError("ledger: holds no log yet", code="ledger.missing")
            opening.check_memory(connection, state, known)
        size, root = state.frontier.size, state.frontier.root()
        if leaves:
            database = db.name(self._engine)
            heads.remember(self._home, state.origin, size, root, database=database)
        return state

    def size(self) -> int:
        """Return how many entries the log has."""
        with db.read(self._engine) as connection:
            state = chain.load_state(connection)
        return 0 if state is None else state.frontier.size

    def consistency(self, old: int, size: int) -> Sequence[bytes]:
        """Return the proof between two sizes of the log (RFC 6962 §2.1.2)."""
        with db.read(self._engine) as connection:
            return tree.consistency_proof(tiles.nodes(connection), old, size)

    def continuing(self, made: Bundle, known: bytes) -> Bundle:
        """Return the bundle with the proof that its head continues one that somebody kept.

        Raises:
            IntegrityError: code `ledger.checkpoint`, no head; code `ledger.fork`, this log never had it.
        """
        kept = parse_checkpoint(split(known)[0])
        ours = parse_checkpoint(split(made.head or b"")[0])
        if kept.origin != ours.origin or kept.size > ours.size:
            raise _never_had(kept)
        if kept.root != (ours.root if kept.size == ours.size else self.root_at(kept.size)):
            raise _never_had(kept)
        if kept.size == ours.size:
            return made
        proof = tuple(self.consistency(kept.size, ours.size))
        return replace(made, consistency=Consistency(kept.size, proof))

    def root_at(self, size: int) -> bytes:
        """Return the root that the log had at a size."""
        with db.read(self._engine) as connection:
            return tiles.root_at(connection, size)


def _never_had(kept: Checkpoint) -> IntegrityError:
    return IntegrityError(
        f"the known head of log {kept.origin} with size {kept.size} root {kept.root.hex()} "
        "is none that this log ever had",
        code="ledger.fork",
        hint="keep that head: whoever signed both shows two histories",
    )
