from __future__ import annotations

import asyncio
from typing import Any

import uvloop

from ghost_addons import loop as engines


def test_our_program_runs_on_uvloop_and_keeps_its_task_factory() -> None:
    async def program() -> list[Any]:
        loop = asyncio.get_running_loop()
        with engines._eager_tasks():  # what the engine calls
            ran: list[int] = []

            async def step() -> None:
                ran.append(1)

            task = loop.create_task(step(), name="step")
            assert ran == [1]
            await task
        return [isinstance(loop, uvloop.Loop), loop.get_task_factory()]

    assert engines.run(program()) == [True, None]
