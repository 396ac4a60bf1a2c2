from __future__ import annotations

import asyncio
import resource
from typing import Any

import pytest
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


@pytest.mark.parametrize(
    ("limits", "raised"),
    [
        ((1024, 4096), [(4096, 4096)]),
        ((1024, resource.RLIM_INFINITY), [(engines.DESCRIPTORS, resource.RLIM_INFINITY)]),
        ((1024, 1_000_000), [(engines.DESCRIPTORS, 1_000_000)]),
        ((100_000, 1_000_000), []),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), []),
    ],
    ids=["hard", "endless", "enough", "above", "no limit"],
)
def test_as_many_connections_are_allowed_as_may_be(
    limits: tuple[int, int], raised: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: asked.append(wanted))
    engines._allow_connections()
    assert asked == raised


def test_a_limit_that_cannot_be_raised_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (10, 20))
    monkeypatch.setattr(resource, "setrlimit", refuses)
    engines._allow_connections()
