"""A bounded queue with a thread of its own: whoever puts something in never waits.

One slow receiver keeps only its own line waiting, and the order of events in it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from ghost_addons.notice import Notice
from ghost_core import log

LIMIT = 1000
PAUSE_SECONDS = 0.05
STOP_SECONDS = 1.0
REFUSAL = "action.denied"
CALL = "action."

type Handle = Callable[[Notice, threading.Event], None]
"""Does the work for one event; gives up soon after the event is set."""


class Line:
    """Hands events to `handle` one by one, each at least 50 ms after it came: the answer goes first.

    `lost` is told how many events there was no room or no time for.
    """

    def __init__(
        self, name: str, handle: Handle, lost: Callable[[int], None], *, limit: int = LIMIT
    ) -> None:
        self.name = name
        self._handle = handle
        self._lost = lost
        self._limit = limit
        self._waiting: deque[tuple[float, Notice]] = deque()
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._ending = False
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name=f"ghost-{name}", daemon=True)
        self._thread.start()

    def put(self, notice: Notice) -> None:
        """Queue an event; where there is no room one that agents cause more cheaply is lost, or else this."""
        with self._changed:
            full = len(self._waiting) >= self._limit
            if self._ending or (full and not self._made_room_for(notice)):
                self._dropped += 1
                return
            self._waiting.append((time.monotonic(), notice))
            self._changed.notify()

    def _made_room_for(self, notice: Notice) -> bool:
        """Let the newest of the cheapest events go for a dearer one."""
        costs = [_cost(each) for _, each in reversed(self._waiting)]
        cheapest = min(costs)
        if cheapest >= _cost(notice):
            return False
        del self._waiting[-1 - costs.index(cheapest)]
        self._dropped += 1
        return True

    def finish(self) -> None:
        """Take nothing more, and end the thread once the queue is empty."""
        with self._changed:
            self._ending = True
            self._changed.notify()

    def wait(self, until: float) -> None:
        """Wait for the end of the thread, up to a monotonic time."""
        self._thread.join(max(0.0, until - time.monotonic()))

    def stop(self) -> None:
        """Begin no further event, and ask the handler of the current one to give up."""
        self._stop.set()

    def end(self, until: float) -> None:
        """Wait once more; what is left then was given up, and is counted as lost."""
        self.wait(until)
        with self._changed:
            self._dropped += len(self._waiting)
            self._waiting.clear()
        self._tell_lost()

    def _run(self) -> None:
        while (found := self._next()) is not None:
            came, notice = found
            self._stop.wait(max(0.0, came + PAUSE_SECONDS - time.monotonic()))
            try:
                self._handle(notice, self._stop)
            except Exception as error:  # noqa: BLE001  # one event may fail, the line goes on
                log.events(__name__).error(
                    "line.failed", line=self.name, error=type(error).__name__
                )
            self._tell_lost()

    def _next(self) -> tuple[float, Notice] | None:
        """Wait for an event; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ending)
            return self._waiting.popleft() if self._waiting and not self._stop.is_set() else None

    def _tell_lost(self) -> None:
        with self._changed:
            count, self._dropped = self._dropped, 0
        if count:
            self._lost(count)


def _cost(notice: Notice) -> int:
    """Return what an event costs the agent that causes it: nothing, an allowed call, or it cannot."""
    if notice.name == REFUSAL:
        return 0
    return 1 if notice.name.startswith(CALL) else 2
