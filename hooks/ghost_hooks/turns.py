"""Work beside the loop, by turns: each session has one thread at a time.

There are few threads, and a body can be read for a minute: with several of such a kind one session would
take all of them, and those of the others wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from weakref import WeakValueDictionary

_whose: ContextVar[str] = ContextVar("ghost.turns", default="")
_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


def belongs_to(session: str) -> None:
    """Note for which session this task works."""
    _whose.set(session)


async def aside[T](work: Callable[[], T]) -> T:
    """Do the work in a thread once it is the turn of its session; what is for none has no turns.

    A thread cannot be stopped: who leaves meanwhile takes no second one before the first has ended.
    """
    session = _whose.get()
    if not session:
        return await asyncio.to_thread(work)
    turn = _turns.setdefault(session, asyncio.Lock())
    await turn.acquire()
    running = asyncio.ensure_future(asyncio.to_thread(work))
    running.add_done_callback(lambda _: turn.release())
    return await asyncio.shield(running)
