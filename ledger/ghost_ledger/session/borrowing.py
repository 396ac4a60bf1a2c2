"""Signatures of a live session for a process that does not own it: its owner's, or made with its key.

Whoever asks holds the write lock of the database, and everybody who writes waits for it. So an owner that
was not heard of lately is asked before, without the lock; a silent one is found out at nobody else's cost.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ghost_core import db
from ghost_core.clock import Clock
from ghost_core.errors import (
    DeniedError,
    GhostError,
    IntegrityError,
    NotFoundError,
    UnavailableError,
)
from ghost_ledger import entry
from ghost_ledger.chain import Signer
from ghost_ledger.lending import Lent, Run, UnsignedError, sign_run
from ghost_ledger.note import Vkey
from ghost_ledger.session import lifetime
from ghost_ledger.session.control import Channel
from ghost_ledger.session.custody import Custody, is_owned
from ghost_ledger.session.messages import Message

__all__ = ["HELD_SECONDS", "QUIET_SECONDS", "WAIT_SECONDS", "Borrowed"]

WAIT_SECONDS: Final = 1.0  # before the transaction: only we wait
HELD_SECONDS: Final = (
    0.5  # inside it: eight who wait for each other stay within the busy time of 5 s
)
QUIET_SECONDS: Final = (
    10.0  # how long a good word counts, and how long a silent owner is left in peace
)
_PAUSE_SECONDS: Final = 0.01

_AGAIN: Final = frozenset({"session.owned", "session.owner_busy", "session.owner_lost"})
"""Owners come, go and have much to do; those that refuse or are silent are not asked again."""
_SILENT: Final = frozenset({"session.owned", "session.owner_silent"})
_OVER: Final = frozenset(
    f"session.{word}" for word in ("evaporated", "expired", "sealed", "abandoned")
)

_SESSION: Final = sa.text(
    "SELECT s.status, e.body FROM sessions s JOIN entries e ON e.sid = s.session_id AND e.seq = 0"
    " WHERE s.session_id = :sid"
)


class Borrowed:
    """One session of another owner, or of none, for all changes that a process makes inside it.

    Several threads may `reach` at once; `lend` is for the one that holds the write lock.
    """

    def __init__(
        self, engine: Engine, origin: str, sid: str, clock: Clock, *, root: Path | None = None
    ) -> None:
        self._engine = engine
        self._origin = origin
        self._sid = sid
        self._clock = clock
        self._root = root
        self._found: _Found | None = None
        self._channel: Channel | None = None
        self._gate = threading.Lock()
        self._heard = 0.0
        self._why = UnsignedError("")
        self._quiet = 0.0

    @property
    def signer(self) -> Signer:
        """The session's key by its public half; once it was reached."""
        return self._session().signer

    def reach(self) -> None:
        """Find out whether the session lives and its owner would sign; where there is none, we shall.

        Raises UnsignedError.
        """
        with self.heeding():
            if lifetime.expired(self._session(), self._clock):
                raise DeniedError("over", code="session.expired")
            if time.monotonic() < self._heard:
                return
            self._keep(_within(WAIT_SECONDS, self._hail))
            self._heard = time.monotonic() + QUIET_SECONDS

    def lend(self, run: Run) -> None:
        """Get the signatures of a run for the signer, under the write lock of the database."""
        signatures = _within(HELD_SECONDS, lambda until: self._signed(run, until))
        self._session().key.give(signatures)

    @contextmanager
    def heeding(self) -> Iterator[None]:
        """Leave a session in peace that has ended, or whose owner was silent a moment ago.

        What is refused inside the block is remembered. Raises UnsignedError for it.
        """
        if time.monotonic() < self._quiet:
            raise UnsignedError(self._why.message, code=self._why.code)
        try:
            yield
        except UnsignedError as error:
            self._remember(error)
            raise
        except (DeniedError, IntegrityError) as error:
            if isinstance(error, IntegrityError) and error.code != "ledger.key":
                raise
            why = UnsignedError.of(error)
            self._remember(why)
            raise why from error

    def close(self) -> None:
        """Hang up."""
        self._keep(None)

    def _remember(self, why: UnsignedError) -> None:
        self._heard = 0.0
        self._why = why
        if why.code in _OVER:
            self._quiet = math.inf
        elif why.code in _SILENT:
            self._quiet = time.monotonic() + QUIET_SECONDS

    def _session(self) -> _Found:
        if self._found is None:
            self._found = _find(self._engine, self._origin, self._sid)
        return self._found

    def _keep(self, channel: Channel | None) -> None:
        """Have this connection for the next run, instead of the one before."""
        with self._gate:
            before, self._channel = self._channel, channel
        if before is not None:
            before.close()

    def _kept(self) -> Channel | None:
        with self._gate:
            channel, self._channel = self._channel, None
        return channel

    def _hail(self, until: float) -> Channel | None:
        """Ask the owner whether it would sign; return None where there is none."""
        try:
            channel = Channel.open(self._sid, timeout=_left(until), root=self._root)
        except NotFoundError:
            if is_owned(self._sid, root=self._root):
                raise _not_yet(self._sid) from None
            return None
        with _closing(channel):
            channel.ask({"op": "sign"}, timeout=_left(until))
        return channel

    def _signed(self, run: Run, until: float) -> Sequence[bytes]:
        channel = self._kept()
        if channel is None:
            try:
                return self._sign_alone(run)
            except UnavailableError as error:
                if error.code != "session.owned":
                    raise
            channel = self._hail(until)  # somebody has become its owner since
        if channel is None:
            raise _not_yet(self._sid)
        with _closing(channel):
            answer = channel.ask({"op": "sign", **run.message()}, timeout=_left(until))
        self._keep(channel)
        return _read(answer)

    def _sign_alone(self, run: Run) -> Sequence[bytes]:
        """Be the owner for this moment: the chain cannot move while we hold the write lock."""
        with Custody.acquire(self._sid, root=self._root) as custody:
            signer = Signer.of(custody.key, self._origin, self._sid)
            return sign_run(signer, self._origin, self._sid, run)[0]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the first entry of a session says, which nobody can change: its key and its time."""

    key: Lent
    signer: Signer
    boot: str
    deadline: int


def _find(engine: Engine, origin: str, sid: str) -> _Found:
    with db.read(engine) as connection:
        row = connection.execute(_SESSION, {"sid": sid}).first()
    fields = {} if row is None else entry.parse_envelope(row.body).fields
    if row is None or fields.get("system") is True:
        raise DeniedError("not here", code="session.unknown")
    if row.status != "live":
        raise DeniedError("over", code="session.sealed")
    key = Lent(Vkey.parse(str(fields["vkey"])).public)
    return _Found(
        key, Signer.of(key, origin, sid), str(fields["boot"]), int(str(fields["deadline"]))
    )


@contextmanager
def _closing(channel: Channel) -> Iterator[None]:
    """Leave no connection behind on which half an exchange is under way."""
    done = False
    try:
        yield
        done = True
    finally:
        if not done:
            channel.close()


def _within[T](seconds: float, attempt: Callable[[float], T]) -> T:
    """Try until it is done, the time is over, or there is no sense in it; raises UnsignedError."""
    until = time.monotonic() + seconds
    while True:
        try:
            return attempt(until)
        except GhostError as error:
            if error.code not in _AGAIN or time.monotonic() + _PAUSE_SECONDS >= until:
                raise UnsignedError.of(error) from error
        time.sleep(_PAUSE_SECONDS)


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())


def _read(answer: Message) -> Sequence[bytes]:
    """Read signatures in hex; whether they are any is seen where they are used."""
    match answer:
        case {"signatures": list(signatures)}:
            try:
                return [bytes.fromhex(each) for each in signatures]
            except (TypeError, ValueError):
                pass
        case _:
            pass
    raise UnsignedError.of(DeniedError("no signatures", code="ledger.signature"))


def _not_yet(sid: str) -> UnavailableError:
    return UnavailableError(f"session {sid}: its owner does not answer", code="session.owned")
