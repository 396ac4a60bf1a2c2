"""Short turns in the loop: what takes long goes on between other work, and a session has one turn at a time.

All that one read brings is handed on before anybody else gets a turn, and 64 KB can be ten thousand pings,
or chunks of one byte.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from mitmproxy.proxy import events

TURN_SECONDS = 0.02
SLICE_BYTES = 16_384
"""How much of what came is handed on at once, for one who was slow."""
_REST = 20  # for how many times as long as it took too long


now = time.thread_time
"""Tells how long the loop has worked, seconds: on a busy machine nobody is slow because it had to wait."""


class Pace:
    """How fast what somebody sends is dealt with; one for each session."""

    def __init__(self) -> None:
        self._lane = asyncio.Lock()
        self._slow_until = 0.0

    @property
    def slow(self) -> bool:
        """Tell whether its events took long lately."""
        return time.monotonic() < self._slow_until

    def took(self, seconds: float) -> None:
        """Note how long an event took without a pause."""
        if seconds > TURN_SECONDS:
            self._slow_until = max(self._slow_until, time.monotonic() + _REST * seconds)

    async def turn(self) -> None:
        """Let everybody else have a turn, the others of the session too; then it is ours."""
        async with self._lane:
            await asyncio.sleep(0)


def slices(event: events.DataReceived) -> Iterator[events.DataReceived]:
    """Yield what came in small pieces."""
    for at in range(0, len(event.data), SLICE_BYTES):
        yield events.DataReceived(event.connection, event.data[at : at + SLICE_BYTES])


_paces: dict[str, Pace] = {}


def belongs(client: str, pace: Pace) -> None:
    """Note whose connection a client's is."""
    _paces[client] = pace


def forget(client: str) -> None:
    """Forget a connection that is closed."""
    _paces.pop(client, None)


def of(client: str) -> Pace | None:
    """Return the pace of a client's session, once it is known."""
    return _paces.get(client)
