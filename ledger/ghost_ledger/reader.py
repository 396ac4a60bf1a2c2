"""Reading the ledger: rows of the derived tables, signed entries, payloads, heads, bundles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlmodel import Session, col, select

from ghost_core import db, paths
from ghost_core.errors import NotFoundError
from ghost_core.paths import Home
from ghost_ledger import bundling, chain, identity, pruning, sealing
from ghost_ledger.bundle import Bundle, Disclosure
from ghost_ledger.checkpoint import parse_checkpoint
from ghost_ledger.counting import Counted, counted
from ghost_ledger.erasures import Erased, earlier
from ghost_ledger.handovers import KeptHandovers
from ghost_ledger.log_heads import LogHeads
from ghost_ledger.note import split
from ghost_ledger.payloads import DataKeys
from ghost_ledger.pruning import Plan
from ghost_ledger.store import ActionRow, CredentialRow, SessionRow
from ghost_ledger.stored import StoredEntry, StoredHead, StoredPayload, note_of, read_entries

__all__ = ["Ledger", "StoredEntry", "StoredHead", "StoredPayload"]

_PAYLOADS: Final = sa.text(
    "SELECT p.entry_idx, e.seq, p.field, p.salt, p.commitment, p.data, p.size, p.truncated, p.media"
    " FROM payloads p JOIN entries e ON e.idx = p.entry_idx"
    " WHERE e.sid = :sid AND (CAST(:idx AS BIGINT) IS NULL OR p.entry_idx = :idx)"
    " ORDER BY p.entry_idx, p.field"
)


class Ledger:
    """Read access to a migrated database; payloads need the home that sealed them.

    Every method raises UnavailableError (`database.locked`, `database.schema`, …) as `db.read`.
    """

    def __init__(self, engine: Engine, home: Home | None = None) -> None:
        self._engine = engine
        self._home = home

    def session(self, sid: str) -> SessionRow | None:
        """Return a session, or None."""
        return self._query(lambda orm: orm.get(SessionRow, sid))

    def sessions(self, *, system: bool = False) -> Sequence[SessionRow]:
        """Return all sessions, oldest first; those of recorder runs only if asked for."""
        query = select(SessionRow).order_by(col(SessionRow.spawned_at), col(SessionRow.session_id))
        if not system:
            query = query.where(col(SessionRow.system).is_(False))
        return self._query(lambda orm: orm.exec(query).all())

    def open_sessions(self) -> Sequence[SessionRow]:
        """Return the sessions that are neither sealed nor abandoned, oldest first."""
        return [row for row in self.sessions() if row.status == "live"]

    def actions(self, sid: str) -> Sequence[ActionRow]:
        """Return the actions of a session in log order, refusals included."""
        order = sa.func.coalesce(col(ActionRow.intent_idx), col(ActionRow.entry_idx))
        query = select(ActionRow).where(ActionRow.session_id == sid).order_by(order)
        return self._query(lambda orm: orm.exec(query).all())

    def action(self, action_id: str) -> ActionRow | None:
        """Return one action, or None."""
        return self._query(lambda orm: orm.get(ActionRow, action_id))

    def failures(self, sids: Sequence[str], error: str) -> int:
        """Return how many calls of these sessions were refused or failed with an error code."""
        query = select(sa.func.coalesce(sa.func.sum(ActionRow.count), 0)).where(
            col(ActionRow.session_id).in_(sids), ActionRow.error == error
        )
        return self._query(lambda orm: int(orm.exec(query).one()))

    def credentials(self, sid: str) -> Sequence[CredentialRow]:
        """Return what happened to keys and credentials of a session, in log order."""
        query = (
            select(CredentialRow)
            .where(CredentialRow.session_id == sid)
            .order_by(col(CredentialRow.entry_idx))
        )
        return self._query(lambda orm: orm.exec(query).all())

    def entries(self, sid: str) -> list[StoredEntry]:
        """Return the signed entries of a session in order of `seq`; raises as `read_entries`."""
        with db.read(self._engine) as connection:
            return read_entries(connection, sid)

    def counted(self, sid: str) -> dict[tuple[str, str], Counted]:
        """Return what the calls of a session have used, by tool and action; see `counting`."""
        with db.read(self._engine) as connection:
            return counted(connection, sid)

    def notes(self, sid: str) -> list[bytes]:
        """Return the complete notes of the entries, as they were hashed."""
        stored = self.entries(sid)
        return [note_of(item, stored[0]) for item in stored]

    def payloads(self, sid: str) -> list[StoredPayload]:
        """Return the stored payloads of a session, opened; `data` None where it is gone."""
        with db.read(self._engine) as connection:
            return self._payloads(connection, sid)

    def payload(self, sid: str, entry_idx: int, field: str) -> bytes | None:
        """Return the stored part of one payload, or None if nothing is stored (any more).

        Raises:
            IntegrityError: code `ledger.sealed`, the stored bytes were changed.
        """
        with db.read(self._engine) as connection:
            found = self._payloads(connection, sid, entry_idx)
        return next((item.data for item in found if item.field == field), None)

    def disclosures(self, sid: str) -> list[Disclosure]:
        """Return what proves the commitments of a session: every payload that is stored in full."""
        return [
            Disclosure(item.seq, item.field, item.salt, item.data)
            for item in self.payloads(sid)
            if item.data is not None and not item.truncated
        ]

    def erased(self, sid: str) -> list[Erased]:
        """Return what entries say was erased of a session, in log order."""
        with db.read(self._engine) as connection:
            return earlier(connection, sid)

    def prunable(self, before_us: int) -> Plan:
        """Return what of the time before an instant can be pruned; as `pruning.look`."""
        with db.read(self._engine) as connection:
            return pruning.look(connection, pruning.limit(connection, before_us))

    def head(self) -> StoredHead | None:
        """Return the head of the log, or None before its first entry."""
        with db.read(self._engine) as connection:
            state = chain.load_state(connection)
        if state is None:
            return None
        size, root = state.frontier.size, state.frontier.root()
        return StoredHead(state.origin, size, root, state.last_ts, state.vkey)

    def heads(self, home: Home | None = None) -> LogHeads:
        """Return what signs and proves the heads of this log."""
        return LogHeads(self._engine, home or self._resolved_home())

    def bundle(
        self,
        sid: str,
        home: Home | None = None,
        *,
        disclose: bool = False,
        leaves: bool = True,
        head: bytes | None = None,
    ) -> Bundle:
        """Build the offline bundle of a session under a head: the one given, else a fresh one.

        `leaves` is that of `LogHeads.sign`.

        Raises:
            NotFoundError: codes `session.unknown`, `ledger.pruned`.
            IntegrityError: codes `ledger.rollback`, `ledger.fork`, `ledger.log_key`.
        """
        disclosures = self.disclosures(sid) if disclose else []
        note = head or self.heads(home).sign(leaves=leaves)[1]
        under = parse_checkpoint(split(note)[0])
        with db.read(self._engine) as connection:
            # What was entered meanwhile is not under this head.
            stored = [item for item in read_entries(connection, sid) if item.idx < under.size]
            if not stored:
                raise _unknown(sid)
            handovers = KeptHandovers.of(home or self._resolved_home(), under.origin).notes()
            return bundling.build(
                connection, stored, under.size, note, disclosures, handovers=handovers
            )

    def _payloads(
        self, connection: Connection, sid: str, entry_idx: int | None = None
    ) -> list[StoredPayload]:
        rows = connection.execute(_PAYLOADS, {"sid": sid, "idx": entry_idx}).all()
        if not rows:
            return []
        key = DataKeys(identity.vault_key(self._resolved_home())).find(connection, sid)
        return [
            StoredPayload(
                entry_idx=row.entry_idx,
                seq=row.seq,
                field=row.field,
                salt=row.salt,
                commitment=row.commitment,
                data=sealing.unseal(key, row.data) if key and row.data is not None else None,
                size=row.size,
                truncated=bool(row.truncated),
                media=row.media,
            )
            for row in rows
        ]

    def _resolved_home(self) -> Home:
        return self._home or paths.home()

    def _query[T](self, ask: Callable[[Session], T]) -> T:
        with db.read(self._engine) as connection, Session(connection) as orm:
            return ask(orm)


def _unknown(sid: str) -> NotFoundError:
    return NotFoundError(
        f"session {sid}: is not in this ledger", code="session.unknown", hint="ghost session list"
    )
