"""Each session works in one thread at a time, and none waits for another's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from ghost_hooks import turns


class Work:
    """What goes on until it is told to end."""

    def __init__(self) -> None:
        self.began = threading.Semaphore(0)
        self.end = threading.Event()
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        self.began.release()
        assert self.end.wait(10)


async def work_for(session: str, work: Callable[[], None]) -> None:
    turns.belongs_to(session)
    await turns.aside(work)


def test_a_session_takes_one_thread_at_a_time_and_another_one_more() -> None:
    async def play() -> tuple[int, int]:
        hangs, other = Work(), Work()
        other.end.set()
        mine = [asyncio.create_task(work_for("a", hangs)) for _ in range(20)]
        await asyncio.to_thread(hangs.began.acquire)
        await asyncio.wait_for(work_for("b", other), 10)
        count = hangs.count
        hangs.end.set()
        await asyncio.gather(*mine)
        return count, hangs.count

    assert asyncio.run(play()) == (1, 20)


def test_who_leaves_takes_no_second_thread_while_the_first_works() -> None:
    async def play() -> int:
        hangs = Work()
        for _ in range(3):
            task = asyncio.create_task(work_for("a", hangs))
            await asyncio.sleep(0.01)
            task.cancel()
        count = hangs.count
        hangs.end.set()
        return count

    assert asyncio.run(play()) == 1


@pytest.mark.parametrize("session", ["", "a"])
def test_a_failure_is_handed_on_and_ends_the_turn(session: str) -> None:
    def fails() -> None:
        raise ValueError("no")

    async def play() -> None:
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                await asyncio.wait_for(work_for(session, fails), 10)

    asyncio.run(play())
