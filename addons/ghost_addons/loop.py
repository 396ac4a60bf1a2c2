"""The event loop that the engine runs in: uvloop, with tasks that begin at once."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import resource
from collections.abc import Coroutine, Iterator
from typing import Any

import uvloop
from mitmproxy.utils import asyncio_utils

DESCRIPTORS = 65_536


def run[T](program: Coroutine[object, object, T]) -> T:
    """Run an asyncio program on uvloop, with the task factory that the engine needs there.

    mitmproxy asks for eager tasks; up to Python 3.13.2 `asyncio.eager_task_factory` refuses a keyword that
    uvloop passes on, and the program would die at its first task.
    """
    _allow_connections()
    asyncio_utils.set_eager_task_factory = _eager_tasks
    asyncio_utils.set_task_debug_info = _no_debug_info
    return uvloop.run(program)


def _allow_connections() -> None:
    """Raise our limit of descriptors as far as we may: 1024 is usual, and each connection takes two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # a system with a limit below the hard one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _no_debug_info(*_: object, **__: object) -> None:
    """Leave out the names that the engine gives each of its tasks; several are made for every call."""


@contextlib.contextmanager
def _eager_tasks() -> Iterator[None]:
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    loop.set_task_factory(_eager_task)
    try:
        yield
    finally:
        loop.set_task_factory(before)


def _eager_task(
    loop: asyncio.AbstractEventLoop,
    coroutine: Coroutine[Any, Any, Any],
    *,
    name: str | None = None,
    context: contextvars.Context | None = None,
    **_: object,
) -> asyncio.Task[Any]:
    return asyncio.eager_task_factory(loop, coroutine, name=name, context=context)
