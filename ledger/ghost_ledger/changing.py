"""Changes of another room's tables, each in one transaction with the entries that say so.

A change that was made inside a session is entered there, signed by the session's owner. Where that cannot be
it is entered by the recorder's own session, which says why: a dead session never stops a save.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy.engine import Connection, Engine

from ghost_core import db
from ghost_core.clock import Clock
from ghost_ledger.batch import Batch
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft, Receipt
from ghost_ledger.lending import UnsignedError
from ghost_ledger.session.borrowing import Borrowed
from ghost_ledger.writer import Writer

__all__ = ["Changes"]

_REASON: Final = 300

_log: Final = logging.getLogger("ghost.ledger")

type Work[T] = Callable[[Connection], tuple[T, Sequence[Draft]]]
type Append = Callable[[Batch, Sequence[Draft]], tuple[Receipt, ...]]


class Changes:
    """Runs changes in the writer's thread; `system` opens the recorder's own session."""

    def __init__(
        self, writer: Writer, engine: Engine, clock: Clock, system: Callable[[], str]
    ) -> None:
        self._writer = writer
        self._engine = engine
        self._clock = clock
        self._system = system
        self._sessions: dict[str, Borrowed] = {}
        self._gate = threading.Lock()
        self._told: set[str] = set()

    def perform[T](self, work: Work[T], inside: str) -> T:
        """Run a change; see `Recorder.change`."""
        why = ""
        if inside:
            try:
                return self._inside(work, inside)
            except UnsignedError as error:
                why = error.message
                self._tell(inside, error)
        sid = self._system()
        return self._run(work, lambda batch, drafts: batch.append(_addressed(drafts, sid, why)))

    def _inside[T](self, work: Work[T], sid: str) -> T:
        if self._writer.signs(sid):
            return self._run(work, lambda batch, drafts: batch.append(_addressed(drafts, sid)))
        session = self._session(sid)
        session.reach()
        return self._run(work, lambda batch, drafts: _lent(batch, _addressed(drafts, sid), session))

    def _session(self, sid: str) -> Borrowed:
        with self._gate:
            found = self._sessions.get(sid)
            if found is None:
                found = Borrowed(self._engine, self._writer.state.origin, sid, self._clock)
                self._sessions[sid] = found
            return found

    def close(self) -> None:
        """Hang up on the owners that were asked."""
        with self._gate:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()

    def _run[T](self, work: Work[T], append: Append) -> T:
        kept: list[T] = []

        def perform(batch: Batch) -> tuple[Receipt, ...]:
            with db.nested(batch.connection):
                result, drafts = work(batch.connection)
                receipts = append(batch, drafts)
            kept[:] = [result]
            return receipts

        self._writer.submit(perform, weight=1).result()
        return kept[0]

    def _tell(self, sid: str, error: UnsignedError) -> None:
        """Warn once of a session."""
        if sid not in self._told:
            self._told.add(sid)
            _log.warning(
                "session %s: did not sign a change of memory: %s; the recorder signs, and names it",
                sid,
                error.message,
            )


def _lent(batch: Batch, drafts: Sequence[Draft], session: Borrowed) -> tuple[Receipt, ...]:
    """Append under the write lock, in a batch where others may have waited for this owner before."""
    with session.heeding():
        return batch.append_lent(drafts, session)


def _addressed(drafts: Sequence[Draft], sid: str, why: str = "") -> list[Draft]:
    """Put drafts into a session, and say in each why it is not the one that it names."""
    if not why:
        return [replace(draft, sid=sid) for draft in drafts]
    return [replace(draft, sid=sid, fields=_explained(draft, why)) for draft in drafts]


def _explained(draft: Draft, why: str) -> dict[str, Value]:
    own = draft.fields.get("reason", "")
    said = f"not signed by its session: {why}"
    return {**draft.fields, "reason": f"{said}; {own}"[:_REASON] if own else said}
