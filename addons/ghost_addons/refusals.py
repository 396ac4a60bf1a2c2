"""Entering refusals: the first at once, equal ones within the next second as one entry with a count.

Clients that no living session answers for can be refused without end; of those beyond some the system enters
how many there were.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from ghost_addons.record import Attempt, Keeping, denied
from ghost_addons.refusal import Refusal
from ghost_core import ids, log
from ghost_core.errors import GhostError
from ghost_ledger.recorder import Receipt, Recorder

WINDOW_SECONDS = 1.0
CROWD_SECONDS = 60.0
CROWD = 30
"""How many refusals of one address, without a living session, are entered each in that time."""

type Key = tuple[str | int | bytes, ...]


@dataclass(slots=True)
class _Repeats:
    """Equal refusals since the first one was entered."""

    attempt: Attempt
    refusal: Refusal
    keeping: Keeping
    timer: asyncio.TimerHandle
    count: int = 0


@dataclass(frozen=True, slots=True)
class Last:
    """The refusal that a client was told last; entries do not hold every message."""

    sid: str
    host: str
    refusal: Refusal


class Refusals:
    """Writes refusals so that a flood of equal ones stays readable and complete."""

    def __init__(self, recorder: Recorder, *, window_seconds: float = WINDOW_SECONDS) -> None:
        self.last: Last | None = None
        self._recorder = recorder
        self._window_seconds = window_seconds
        self._repeats: dict[Key, _Repeats] = {}
        self._crowds: dict[str, int] = {}
        self._writing: set[asyncio.Task[None]] = set()

    async def enter(
        self, attempt: Attempt, refusal: Refusal, keeping: Keeping, *, address: str = ""
    ) -> Receipt | None:
        """Make the refusal durable; an equal one within the window is counted and returns None.

        So is one too many of an address without a session. Raises UnavailableError where the ledger cannot
        be written.
        """
        self.last = Last(attempt.sid, attempt.host, refusal)
        key, seconds = _key(attempt, refusal), self._window_seconds
        if not attempt.sid:
            if self._is_crowded(address):
                attempt, key, seconds = _of_many(attempt), (address,), CROWD_SECONDS
            attempt = replace(attempt, sid=await asyncio.to_thread(self._recorder.system))
        if key in self._repeats and not attempt.alone:
            self._repeats[key].count += 1
            return None
        draft = denied(attempt, refusal, keeping)
        (receipt,) = await self._recorder.enter(draft)
        if key not in self._repeats:
            timer = asyncio.get_running_loop().call_later(seconds, self._close, key)
            self._repeats[key] = _Repeats(attempt, refusal, keeping, timer)
        return receipt

    def _is_crowded(self, address: str) -> bool:
        """Count a refusal of an address; tell whether there were more than some within a minute."""
        if address not in self._crowds:
            loop = asyncio.get_running_loop()
            loop.call_later(CROWD_SECONDS, self._crowds.pop, address, None)
        self._crowds[address] = self._crowds.get(address, 0) + 1
        return self._crowds[address] > CROWD

    async def flush(self, sid: str = "") -> None:
        """Enter what was counted so far, of one session or of all: before a seal, and at the end."""
        for key in [key for key, each in self._repeats.items() if sid in {"", each.attempt.sid}]:
            await self._write(self._repeats.pop(key))
        if self._writing:
            await asyncio.wait(set(self._writing))

    def _close(self, key: Key) -> None:
        repeats = self._repeats.pop(key, None)
        if repeats is None or not repeats.count:
            return
        task = asyncio.ensure_future(self._write(repeats))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, repeats: _Repeats) -> None:
        repeats.timer.cancel()
        if not repeats.count:
            return
        attempt = replace(repeats.attempt, id=ids.action_id())
        draft = denied(attempt, repeats.refusal, repeats.keeping, count=repeats.count)
        try:
            await self._recorder.enter(draft)
        except GhostError as error:
            # The refusal itself is entered; what is lost is the number of its repetitions.
            log.events(__name__).error("refusals.uncounted", sid=attempt.sid, code=error.code)


def _of_many(attempt: Attempt) -> Attempt:
    """Return what stands for refusals that have only the address of their client in common."""
    return Attempt(sid="", method="various", host="various", id=attempt.id, alone=attempt.alone)


def _key(attempt: Attempt, refusal: Refusal) -> Key:
    """Equal are refusals of the same thing for the same reason: the entry speaks for each of them."""
    tried = (attempt.method, attempt.host, attempt.port, attempt.path, attempt.tool, attempt.action)
    told = (attempt.agent_head, attempt.body, refusal.code, refusal.rule, refusal.message)
    return (attempt.sid, *tried, *told)
