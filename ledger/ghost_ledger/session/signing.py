"""What an owner signs for other processes of its user: changes of memory inside its session, nothing else.

Whoever changes memory holds the database's write lock meanwhile, so nothing here waits for that lock. The
owner signs only what goes on with the chain as it is committed, or with what it signed itself since the chain
last moved: a transaction may hold several runs, and it may be done again.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy.engine import Engine

from ghost_core import db
from ghost_core.clock import Clock
from ghost_core.errors import DeniedError, IntegrityError
from ghost_ledger import chain
from ghost_ledger.chain import ChainEnd, LogState, Signer
from ghost_ledger.keys import Key
from ghost_ledger.lending import Message, Run, sign_run

__all__ = ["SIGNED", "Signing"]

SIGNED: Final = frozenset({"memory.changed"})
SLACK_US: Final = 10_000_000
_ENDS: Final = 1024


class Signing:
    """Signs for one session in our custody."""

    def __init__(self, engine: Engine, origin: str, sid: str, key: Key, clock: Clock) -> None:
        self._engine = engine
        self._origin = origin
        self._sid = sid
        self._signer = Signer.of(key, origin, sid)
        self._clock = clock
        self._committed = ChainEnd()
        self._signed: dict[ChainEnd, None] = {}

    def answer(self, request: Message) -> Message:
        """Return the signatures of the entries that the request holds; none is a question whether we would.

        Raises UsageError for what is no such request, DeniedError `signing.type`, `signing.session`,
        `signing.place`, `signing.time` or of a session that is over, IntegrityError for what is no entry.
        """
        if "entries" not in request:
            return {"signatures": []}
        run = Run.of(request)
        self._check_parts(run)
        self._check_place(run)
        signatures, end = sign_run(self._signer, self._origin, self._sid, run)
        self._remember(end)
        return {"signatures": [each.hex() for each in signatures]}

    def _check_parts(self, run: Run) -> None:
        for part in run.parts:
            if part.type not in SIGNED:
                raise _refused("type", f"signs changes of memory, not {part.type[:64]}")
            if part.fields.get("session") != self._sid:
                raise _refused("session", "signs changes that name the session itself")

    def _check_place(self, run: Run) -> None:
        with db.read(self._engine) as connection:
            state = chain.load_state(connection)
            end = chain.load_end(connection, self._sid, self._signer)
        if state is None or state.origin != self._origin:
            raise IntegrityError(f"log {self._origin}: is not here any more", code="ledger.head")
        if end != self._committed:
            self._committed, self._signed = end, {}
        if run.end != end and run.end not in self._signed:
            raise _refused("place", f"the chain goes on at {end.seq}, not at {run.end.seq}")
        self._check_time(run, state)

    def _check_time(self, run: Run, state: LogState) -> None:
        now = self._clock.now_us()
        earliest, latest = max(state.last_ts, now - SLACK_US), max(state.last_ts, now + SLACK_US)
        if not earliest <= run.ts <= latest:
            raise _refused("time", "the time of the entries is not now")

    def _remember(self, end: ChainEnd) -> None:
        self._signed[end] = None
        while len(self._signed) > _ENDS:
            del self._signed[next(iter(self._signed))]


def _refused(what: str, why: str) -> DeniedError:
    return DeniedError(f"the owner {why}", code=f"signing.{what}")
