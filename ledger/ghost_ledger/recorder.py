"""The recorder: the only door through which entries get into the ledger (one per process)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Literal, Self

from sqlalchemy.engine import Connection, Engine

from ghost_core import db, ids
from ghost_core.clock import Clock, SystemClock
from ghost_core.errors import GhostError, NotFoundError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import chain, entry, erasing, identity, note, opening, pruning, recovery
from ghost_ledger.batch import Batch
from ghost_ledger.canonical import Value
from ghost_ledger.chain import LogState, Signer
from ghost_ledger.changing import Changes
from ghost_ledger.drafts import Draft, Payload, Receipt, SealReceipt
from ghost_ledger.erasing import Erasing, Erasure, Wanted
from ghost_ledger.keeper import HeadKeeper
from ghost_ledger.keys import Key, SecretKey
from ghost_ledger.payloads import DataKeys
from ghost_ledger.pruning import Plan, Pruning
from ghost_ledger.recovery import Recovered
from ghost_ledger.rekeying import Change
from ghost_ledger.store import GUARDED
from ghost_ledger.system import SystemSession
from ghost_ledger.writer import Writer

__all__ = ["Draft", "Payload", "PayloadPolicy", "Receipt", "Recorder", "SealReceipt"]

LINGER_US = 2000  # about what a synced commit costs

type PayloadPolicy = Literal["full", "headers", "none"]


class Recorder:
    """Appends signed entries; several processes may have one on the same SQLite file.

    An answer waits for the database commit. Signing happens inside the transaction, so a failed
    commit leaves no gap in any chain.
    """

    def __init__(
        self, home: Home, engine: Engine, writer: Writer, keeper: HeadKeeper, *, clock: Clock
    ) -> None:
        self.engine = engine
        self._home = home
        self._writer = writer
        self._keeper = keeper
        self._clock = clock
        self._system: SystemSession | None = None
        self._closed = False
        self._lock = threading.RLock()
        self._changes = Changes(writer, engine, clock, self.system)

    @classmethod
    def open(
        cls,
        home: Home,
        url: str,
        *,
        clock: Clock | None = None,
        payload_policy: PayloadPolicy = "full",
        linger_us: int = LINGER_US,
        busy_seconds: float = 5.0,
        with_memory: bool = False,
    ) -> Self:
        """Open the ledger of a home: migrate, check, and create the log on first use.

        With `payload_policy="none"` no payload is stored; otherwise callers decide per payload.
        `with_memory` is for who changes memory tables too (`change`): their triggers fire.

        Raises:
            UnavailableError: codes `database.locked`, `database.unwritable`, `database.schema`,
                `home.unwritable`, `keys.unwritable`.
            IntegrityError: codes `ledger.rollback`, `ledger.head`, `ledger.triggers`,
                `ledger.log_key`, `keys.file`.
        """
        home.ensure()
        _migrate(home, url, busy_seconds)
        clock = clock or SystemClock()
        engine = db.engine(
            url, home=home, busy_seconds=busy_seconds, guarded=GUARDED, trusted=with_memory
        )
        try:
            state, vault_key = opening.open_log(engine, home), identity.vault_key(home)
        except GhostError:
            engine.dispose()
            raise
        keeper = HeadKeeper(home, state.origin, db.name(engine))
        if state.frontier.size:
            keeper.note(state.frontier)  # who was killed after a commit could not write it down
        writer = Writer(
            engine,
            state=state,
            keys=DataKeys(vault_key),
            clock=clock,
            linger_us=linger_us,
            stores_payloads=payload_policy != "none",
            committed=keeper.note,
        )
        recorder = cls(home, engine, writer, keeper, clock=clock)
        if state.frontier.size == 0:
            try:
                recorder._begin_log()
            except GhostError:
                recorder.close()
                raise
        return recorder

    @property
    def origin(self) -> str:
        """The name of the log."""
        return self._state.origin

    @property
    def log_vkey(self) -> str:
        """The verifier key line under which heads of this log are signed."""
        return self._state.vkey

    @property
    def head(self) -> tuple[int, bytes]:
        """Size and root of the log as this process last committed it."""
        frontier = self._state.frontier
        return frontier.size, frontier.root()

    def attach(self, sid: str, key: SecretKey) -> None:
        """Take over the signing chain of a session that this process owns.

        Raises:
            DeniedError: codes `session.sealed`, `session.abandoned`.
            IntegrityError: code `ledger.key`, the session was opened with another key.
        """
        signer = Signer.of(key, self.origin, sid)
        with db.read(self.engine) as connection:
            chain.load_end(connection, sid, signer)
        self._writer.sign_with(sid, signer)

    def detach(self, sid: str) -> None:
        """Forget the session's key; the caller releases or wipes it."""
        self._writer.drop(sid)

    def submit(self, *drafts: Draft) -> Future[tuple[Receipt, ...]]:
        """Queue drafts that are committed together or not at all; see `append` for the errors."""
        return self._writer.submit(lambda batch: batch.append(drafts), weight=len(drafts))

    def enter(self, *drafts: Draft) -> asyncio.Future[tuple[Receipt, ...]]:
        """Queue drafts as `submit` does, for a coroutine of the running loop to await."""
        return self._writer.enter(lambda batch: batch.append(drafts), weight=len(drafts))

    def append(self, *drafts: Draft) -> tuple[Receipt, ...]:
        """Append drafts together and wait for the commit.

        Raises:
            UnavailableError: codes `ledger.unwritable`, `database.locked`, `ledger.closed`.
            NotFoundError: code `ledger.unattached`.
            DeniedError: codes `session.sealed`, `session.abandoned`.
            IntegrityError: a field is wrong (`ledger.grammar`), out of order, or a duplicate.
        """
        return self.submit(*drafts).result()

    def change[T](
        self, work: Callable[[Connection], tuple[T, Sequence[Draft]]], *, inside: str = ""
    ) -> T:
        """Change tables of another room and append what says so: together, or neither.

        `work` runs in the writer's thread, inside the transaction, and returns its result and the drafts,
        whatever their `sid`. They are entered in the session `inside` whose owner signs them; without one, or
        where it cannot sign, in the system session. `work` may run several times, all but the last in vain.
        Raises as `append`, and what `work` raises.
        """
        return self._changes.perform(work, inside)

    def follow(self, told: Callable[[tuple[Receipt, ...]], None] | None) -> None:
        """Tell of every entry that this process commits, after its commit; None ends it.

        Called by the writer's thread, so it must return at once and raise nothing.
        """
        self._writer.follower = told

    def system(self) -> str:
        """Return the id of this process's system session; it is opened at the first call.

        Raises as `append`; after `close` always.
        """
        with self._lock:
            if self._closed:
                raise UnavailableError("ledger: the recorder is closed", code="ledger.closed")
            if self._system is None:
                self._open_system(lambda batch, system: batch.append([system.spawn()]))
            return self._opened().sid

    def seal(self, sid: str, closed_fields: Mapping[str, Value]) -> SealReceipt:
        """Close and seal a session in one transaction; nothing of it may follow.

        The key is detached, the head is remembered; the caller wipes the key. Raises as `append`.
        """
        closed = Draft(sid, "session.closed", ids.entry_id(), closed_fields)
        seal_id = ids.entry_id()
        work = self._writer.submit(
            lambda batch: batch.append_seal(sid, closed, seal_id), weight=BATCH_OF_SEAL
        )
        receipt = work.result()[-1]
        self.detach(sid)
        self.sync_head()
        return _seal_receipt(receipt)

    def recover(
        self,
        is_orphaned: Callable[[str], bool],
        *,
        can_continue: Callable[[str], bool] = lambda _: False,
    ) -> list[Recovered]:
        """Write down what dead owners left: unanswered intents, and sessions nobody can go on with.

        `is_orphaned` tells that no living process owns the session; a session that `can_continue`
        (its key still lies there) keeps living, only its unanswered intents become unknown.
        Nothing is ever sent again.
        """
        found = recovery.find(
            self.engine,
            skip=self._writer.signs,
            is_orphaned=is_orphaned,
            can_continue=can_continue,
        )
        if not found:
            return []
        system = self.system()
        boot = self._clock.boot_id()
        done = []
        for orphan in found:
            work = recovery.Closing(orphan, system, boot)
            receipts = self._writer.submit(work.perform, weight=work.weight).result()
            if receipts:
                done.append(work.recovered())
        return done

    def erase(self, wanted: Wanted) -> Erasure:
        """Delete payloads and their salts, together with the entries that say so; twice does no harm.

        The session may be live or over; the recorder's own session signs. See `erasing.scrub` for what pages
        still hold. Raises as `append`, and as `erasing.look`.
        """
        with db.read(self.engine) as connection:
            found = erasing.look(connection, wanted)
        if not found.due:
            return Erasure((), found.before, key_destroyed=False)
        work = Erasing(wanted, self.system())
        self._writer.submit(work.perform, weight=work.weight).result()
        return Erasure(work.done, found.before, work.key_destroyed)

    def rekey(self, old: Key, new: Key, reason: str) -> Receipt:
        """Enter that the log gets another key, and go on with it; whoever signs heads must have both.

        Raises as `append`, and IntegrityError `ledger.log_key` if the old key is not the log's.
        """
        work = Change(old, new, self.system(), reason)
        return self._writer.submit(work.perform, weight=1).result()[0]

    def prune(self, before_us: int) -> tuple[Plan, tuple[Receipt, ...]]:
        """Delete the entries of sessions that were over before an instant, in steps that each say so first.

        Returns what went, and the entries that say so, none where nothing was to go. Raises as `append`, and
        as `pruning.look`.
        """
        with db.read(self.engine) as connection:
            end = pruning.limit(connection, before_us)
            plan = pruning.look(connection, end, at_most=pruning.STEP)
        done, said = list[Plan](), list[Receipt]()
        while plan.count:
            work = Pruning(end, self.system())
            said += self._writer.submit(work.perform, weight=work.weight).result()
            if work.done is None:
                break
            done.append(work.done)
        return pruning.joined(done or [plan]), tuple(said)

    def sync_head(self) -> None:
        """Remember the newest head on disk, before one leaves the process.

        Raises:
            UnavailableError: code `heads.unwritable`.
            IntegrityError: code `ledger.fork`.
        """
        self._keeper.sync()

    def close(self) -> None:
        """Seal the system session, finish the queue, remember the head, end both threads."""
        with self._lock:
            system, self._system, self._closed = self._system, None, True
        try:
            if system is not None:
                self.seal(system.sid, system.closed_fields())
        finally:
            if system is not None:
                system.destroy()
            self._writer.close()
            self._changes.close()
            try:
                self._keeper.close()
            finally:
                self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _state(self) -> LogState:
        return self._writer.state

    def _begin_log(self) -> None:
        """Write `log.init`, unless another process did between our look and our turn."""

        def begin(batch: Batch, system: SystemSession) -> tuple[Receipt, ...]:
            empty = batch.state.frontier.size == 0
            return batch.append([system.spawn(), system.init()]) if empty else ()

        with self._lock:
            self._open_system(begin)

    def _open_system(self, start: Callable[[Batch, SystemSession], tuple[Receipt, ...]]) -> None:
        system = SystemSession(self.origin, self.log_vkey, self._clock)
        self._writer.sign_with(system.sid, system.signer)
        started = False
        try:
            work = self._writer.submit(lambda batch: start(batch, system), weight=2)
            started = bool(work.result())
        finally:
            if not started:
                self._writer.drop(system.sid)
                system.destroy()
        if started:
            self._system = system

    def _opened(self) -> SystemSession:
        if self._system is None:
            raise NotFoundError("system session: did not open", code="ledger.unattached")
        return self._system


BATCH_OF_SEAL = 2


def _migrate(home: Home, url: str, busy_seconds: float) -> None:
    engine = db.engine(url, home=home, busy_seconds=busy_seconds)
    try:
        db.migrate(engine)
    finally:
        engine.dispose()


def _seal_receipt(receipt: Receipt) -> SealReceipt:
    fields = entry.parse(receipt.body).fields
    signed = str(fields["note"]).encode()
    _, lines = note.split(signed)
    return SealReceipt(str(fields["root"]), signed, lines[0].signature.hex())
