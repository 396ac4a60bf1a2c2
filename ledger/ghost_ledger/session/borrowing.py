"""Signatures of a live session for a process that does not own it: its owner's, or made with its key.

Whoever asks holds the write lock of the database, and everybody who writes waits for it. So the owner is
asked before, without the lock, whether it would sign; one that is silent is found out at nobody else's cost.
"""

from __future__ import annotations

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
from ghost_core.errors import DeniedError, GhostError, NotFoundError, UnavailableError
from ghost_ledger import entry
from ghost_ledger.chain import Signer
from ghost_ledger.entry import Entry
from ghost_ledger.lending import Lent, Run, UnsignedError, sign_run
from ghost_ledger.note import Vkey
from ghost_ledger.session import lifetime
from ghost_ledger.session.control import Channel, Message
from ghost_ledger.session.custody import Custody, is_owned

__all__ = ["HELD_SECONDS", "WAIT_SECONDS", "Borrowed", "borrowed"]

WAIT_SECONDS: Final = 1.0  # before the transaction: only we wait
HELD_SECONDS: Final = (
    0.5  # inside it: eight who wait for each other stay within the busy time of 5 s
)
_PAUSE_SECONDS: Final = 0.01

_AGAIN: Final = frozenset({"session.owned", "session.owner_busy", "session.owner_lost"})
"""Owners come, go and have much to do; those that refuse or are silent are not asked again."""

_SESSION: Final = sa.text(
    "SELECT s.status, e.body FROM sessions s JOIN entries e ON e.sid = s.session_id AND e.seq = 0"
    " WHERE s.session_id = :sid"
)


@contextmanager
def borrowed(
    engine: Engine, origin: str, sid: str, clock: Clock, *, root: Path | None = None
) -> Iterator[Borrowed]:
    """Find out who signs for the session; it is asked for signatures until the block ends.

    Raises UnsignedError: the session has ended or is none, or its owner is silent or refuses.
    """
    spawn = _living(engine, sid, clock)
    public = Vkey.parse(str(spawn.fields["vkey"])).public
    made = Borrowed(origin, sid, Lent(public), root)
    try:
        made.reach()
        yield made
    finally:
        made.hang_up()


class Borrowed:
    """A session of another owner, or of none."""

    def __init__(self, origin: str, sid: str, key: Lent, root: Path | None = None) -> None:
        self._origin = origin
        self._sid = sid
        self._key = key
        self._root = root
        self._channel: Channel | None = None
        self.signer = Signer.of(key, origin, sid)

    def reach(self) -> None:
        """Ask the owner whether it would sign; where there is none, the key is there to be taken."""
        _within(WAIT_SECONDS, self._attempt(self._hail))

    def lend(self, run: Run) -> None:
        """Get the signatures of a run for the signer, under the write lock of the database."""
        self._key.give(_within(HELD_SECONDS, self._attempt(lambda until: self._signed(run, until))))

    def hang_up(self) -> None:
        """Close the connection to the owner; it is made again where it is needed."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _attempt[T](self, work: Callable[[float], T]) -> Callable[[float], T]:
        """Leave no connection behind on which half an exchange is under way."""

        def attempt(until: float) -> T:
            try:
                return work(until)
            except GhostError:
                self.hang_up()
                raise

        return attempt

    def _hail(self, until: float) -> None:
        try:
            self._channel = Channel.open(self._sid, timeout=_left(until), root=self._root)
        except NotFoundError:
            if is_owned(self._sid, root=self._root):
                raise _not_yet(self._sid) from None
            return
        self._ask(self._channel, {}, until)

    def _signed(self, run: Run, until: float) -> Sequence[bytes]:
        if self._channel is None:
            try:
                return self._sign_alone(run)
            except UnavailableError as error:
                if error.code != "session.owned":
                    raise
            self._hail(until)  # somebody has become its owner since
        if self._channel is None:
            raise _not_yet(self._sid)
        return _read(self._ask(self._channel, run.message(), until))

    def _ask(self, channel: Channel, request: Message, until: float) -> Message:
        return channel.ask({"op": "sign", **request}, timeout=_left(until))

    def _sign_alone(self, run: Run) -> Sequence[bytes]:
        """Be the owner for this moment: the chain cannot move while we hold the write lock."""
        with Custody.acquire(self._sid, root=self._root) as custody:
            signer = Signer.of(custody.key, self._origin, self._sid)
            return sign_run(signer, self._origin, self._sid, run)[0]


@dataclass(frozen=True, slots=True)
class _Life:
    boot: str
    deadline: int


def _living(engine: Engine, sid: str, clock: Clock) -> Entry:
    """Return the spawn entry of a live session; the key it names is the only one that counts."""
    with db.read(engine) as connection:
        row = connection.execute(_SESSION, {"sid": sid}).first()
    spawn = None if row is None else entry.parse_envelope(row.body)
    if row is None or spawn is None or spawn.fields.get("system") is True:
        raise UnsignedError.of(DeniedError("unknown", code="session.unknown"))
    life = _Life(str(spawn.fields["boot"]), int(str(spawn.fields["deadline"])))
    if row.status != "live" or lifetime.expired(life, clock):
        raise UnsignedError.of(DeniedError("over", code="session.expired"))
    return spawn


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
