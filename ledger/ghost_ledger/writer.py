"""The one writer thread of a process: a queue in front, group commit behind.

A batch closes at 256 drafts or when the queue is empty; while several callers are at work, it first lets the
linger pass, so that they come together. A lone caller never waits. The futures resolve after the commit; if
the commit fails, every one of them fails and no chain has moved.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_core.clock import Clock
from ghost_core.errors import GhostError, IntegrityError, UnavailableError
from ghost_ledger import chain, heads
from ghost_ledger.batch import Batch, Work
from ghost_ledger.chain import ChainEnd, LogState, Signer
from ghost_ledger.drafts import Receipt
from ghost_ledger.payloads import DataKeys
from ghost_ledger.tree import Frontier

__all__ = ["BATCH_LIMIT", "Writer"]

BATCH_LIMIT: Final = 256

type Receipts = tuple[Receipt, ...]
type _Outcome = Receipts | Exception


@dataclass(slots=True)
class _Call:
    """Work for a batch, and who waits for it: a thread, or a coroutine of `loop`."""

    work: Work
    weight: int
    future: Future[Receipts] | asyncio.Future[Receipts]
    loop: asyncio.AbstractEventLoop | None = None

    def starts(self) -> bool:
        """Tell whether somebody still waits."""
        if isinstance(self.future, Future):
            return self.future.set_running_or_notify_cancel()
        return not self.future.cancelled()


class Writer:
    """Owns the database connection, the log state and the chain ends; others only queue calls."""

    def __init__(
        self,
        engine: Engine,
        *,
        state: LogState,
        keys: DataKeys,
        clock: Clock,
        linger_us: int,
        stores_payloads: bool,
        committed: Callable[[Frontier], None],
    ) -> None:
        self._writing = db.Writing(engine)
        self._state = state
        self._keys = keys
        self._clock = clock
        self._linger_seconds = linger_us / 1_000_000
        self._stores_payloads = stores_payloads
        self._committed = committed
        self._signers: dict[str, Signer] = {}
        self._ends: dict[str, ChainEnd] = {}
        self.follower: Callable[[Receipts], None] | None = None
        self._queue: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._company = False
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ghost-writer", daemon=True)
        self._thread.start()

    @property
    def state(self) -> LogState:
        """The log as this process last committed or read it."""
        return self._state

    def sign_with(self, sid: str, signer: Signer) -> None:
        """Hand over the signing key of a session that this process owns."""
        self._signers[sid] = signer

    def signs(self, sid: str) -> bool:
        """Tell whether the session's key was handed over."""
        return sid in self._signers

    def drop(self, sid: str) -> None:
        """Forget the signing key and the opened data key of a session."""
        self._signers.pop(sid, None)
        self._keys.forget(sid)

    def submit(self, work: Work, *, weight: int) -> Future[Receipts]:
        """Queue a call of `weight` drafts; the future resolves after its commit.

        Raises:
            UnavailableError: code `ledger.closed`.
        """
        future: Future[Receipts] = Future()
        self._put(_Call(work, weight, future))
        return future

    def enter(self, work: Work, *, weight: int) -> asyncio.Future[Receipts]:
        """Queue a call as `submit` does, for a coroutine of the running loop to await.

        A batch wakes the loop once, however many of its coroutines wait.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Receipts] = loop.create_future()
        self._put(_Call(work, weight, future, loop))
        return future

    def _put(self, call: _Call) -> None:
        with self._gate:
            if self._closed:
                raise _closed()
            self._queue.put(call)

    def close(self) -> None:
        """Finish what is queued and end the thread; may be called twice."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()
        self._keys.forget()

    def _run(self) -> None:
        try:
            while (calls := self._gather()) is not None:
                self._resolve(calls)
        finally:
            self._writing.close()
            self._refuse_rest()

    def _gather(self) -> list[_Call] | None:
        """Wait for a call, then take along what is there; None at the end."""
        company = self._company or not self._queue.empty()
        first = self._queue.get()
        if first is None:
            return None
        if company:
            time.sleep(self._linger_seconds)
        calls, weight = [first], first.weight
        while weight < BATCH_LIMIT and (call := self._next()) is not None:
            calls.append(call)
            weight += call.weight
        self._company = len(calls) > 1
        return [call for call in calls if call.starts()]

    def _next(self) -> _Call | None:
        try:
            call = self._queue.get_nowait()
        except queue.Empty:
            return None
        if call is None:
            self._queue.put(None)  # the end waits until this batch is done
        return call

    def _resolve(self, calls: list[_Call]) -> None:
        outcomes = self._attempt(calls) if calls else []
        told: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Receipts], _Outcome]]] = {}
        for call, outcome in zip(calls, outcomes, strict=True):
            if call.loop is not None and not isinstance(call.future, Future):
                told.setdefault(call.loop, []).append((call.future, outcome))
            elif isinstance(outcome, Exception):
                call.future.set_exception(outcome)
            else:
                call.future.set_result(outcome)
        for loop, pairs in told.items():
            with contextlib.suppress(
                RuntimeError
            ):  # the loop is closed, nobody waits there any more
                loop.call_soon_threadsafe(_tell, pairs)
        follower = self.follower
        if follower is not None:  # after those who wait, who are not to wait for it
            committed = (each for each in outcomes if not isinstance(each, Exception))
            follower(tuple(receipt for receipts in committed for receipt in receipts))

    def _attempt(self, calls: list[_Call]) -> list[_Outcome]:
        """Commit the calls together; if one of them breaks a constraint, each on its own."""
        try:
            return self._commit(calls)
        except (IntegrityError, sa.exc.IntegrityError) as error:
            if len(calls) > 1:
                return [outcome for call in calls for outcome in self._attempt([call])]
            return [_constraint(error)]
        except GhostError as error:
            return [_copy(error) for _ in calls]
        except Exception as error:  # noqa: BLE001  # an unresolved future would hang its caller
            return [error for _ in calls]

    def _commit(self, calls: list[_Call]) -> list[_Outcome]:
        done = False
        try:
            with self._writing.transaction() as connection:
                batch = self._batch(connection)
                outcomes = [_perform(batch, call) for call in calls]
                batch.finish()
            done = True
        finally:
            if not done:
                self._ends.clear()
                self._keys.forget()
        self._ends = batch.ends
        if batch.state is not self._state:
            self._state = batch.state
            self._committed(batch.state.frontier)
        return outcomes

    def _batch(self, connection: Connection) -> Batch:
        """Start from what we know, or from the database if another process has moved the log."""
        found = chain.load_state(connection)
        if found is None or found.origin != self._state.origin:
            raise IntegrityError(
                f"log {self._state.origin}: is not in this database any more",
                code="ledger.head",
                hint="end this process; one that is started now goes on in the log that is there",
            )
        ends = self._ends
        if found != self._state:
            _check_moved(self._state, found)
            self._state, ends = found, {}
        return Batch(
            connection,
            self._state,
            self._signers,
            dict(ends),
            self._keys,
            self._clock.now_us(),
            self._stores_payloads,
        )

    def _refuse_rest(self) -> None:
        with self._gate:
            self._closed = True
        while True:
            try:
                call = self._queue.get_nowait()
            except queue.Empty:
                return
            if call is not None and call.starts():
                _refuse(call)


def _tell(pairs: list[tuple[asyncio.Future[Receipts], _Outcome]]) -> None:
    """Resolve the futures of a batch, in their own loop."""
    for future, outcome in pairs:
        if future.done():  # its coroutine was cancelled
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


def _refuse(call: _Call) -> None:
    if isinstance(call.future, Future):
        call.future.set_exception(_closed())
    elif call.loop is not None:
        with contextlib.suppress(RuntimeError):  # as above
            pairs: list[tuple[asyncio.Future[Receipts], _Outcome]] = [(call.future, _closed())]
            call.loop.call_soon_threadsafe(_tell, pairs)


def _check_moved(known: LogState, found: LogState) -> None:
    """Refuse a log that another process did not continue but replaced, while we had it open."""
    if found.frontier.size <= known.frontier.size:
        sizes = known.frontier.size, found.frontier.size
        roots = known.frontier.root().hex(), found.frontier.root().hex()
        raise IntegrityError(
            f"log {known.origin}: expected to continue size {sizes[0]} root {roots[0]}, "
            f"found size {sizes[1]} root {roots[1]}",
            code="ledger.rollback",
            hint=heads.GO_ON,
        )


def _perform(batch: Batch, call: _Call) -> _Outcome:
    """Run one call; what is wrong with it alone fails it alone, database errors fail the batch."""
    try:
        return batch.perform(call.work)
    except UnavailableError:
        raise
    except GhostError as error:
        return error


def _copy(error: GhostError) -> GhostError:
    """One instance per future, because a raised exception collects its raiser's traceback."""
    code = "ledger.unwritable" if error.code == "database.unwritable" else error.code
    return type(error)(error.message, code=code, hint=error.hint)


def _constraint(error: IntegrityError | sa.exc.IntegrityError) -> IntegrityError:
    if isinstance(error, IntegrityError):
        return error
    return IntegrityError(
        f"ledger: the database refused the entries, {error.orig}", code="ledger.duplicate"
    )


def _closed() -> UnavailableError:
    return UnavailableError("ledger: the recorder is closed", code="ledger.closed")
