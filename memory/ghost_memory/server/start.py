"""Runs the server for one host on stdio, or for several on loopback HTTP, from start to end.

The store is loaded with the first call: many sessions never make one, and those cost neither its time nor its
memory. When the client has left, everything ends within two seconds, whatever it waits for.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Callable, Iterator
from typing import Final

import anyio

from ghost_memory.server import stdio
from ghost_memory.server.app import build
from ghost_memory.server.service import Opened, Service
from ghost_memory.server.stdio import Hooks
from ghost_memory.server.streams import Streams

__all__ = ["on_loopback", "on_stdio"]

END_SECONDS: Final = 1.9
_NEW_OBJECTS: Final = 10_000


def on_stdio(opening: Callable[[], Opened], streams: Streams, *, session: str = "") -> None:
    """Serve the client behind the streams until it leaves."""
    with _service(opening) as service:
        server = build(service, session=session)
        hooks = Hooks(_settle, _end_soon)
        anyio.run(stdio.serve, server, streams, hooks)


def on_loopback(
    opening: Callable[[], Opened], port: int, ready: Callable[[str], None], *, session: str = ""
) -> None:
    """Serve on a port of loopback until a signal asks to stop. Raises UnavailableError `port.busy`."""
    from ghost_memory.server import loopback

    taken = loopback.listener(port)
    with _service(opening) as service:
        server = build(service, session=session)
        _settle()
        anyio.run(loopback.serve, server, taken, ready)


@contextlib.contextmanager
def _service(opening: Callable[[], Opened]) -> Iterator[Service]:
    service = Service(opening)
    try:
        yield service
    finally:
        service.close()


def _settle() -> None:
    """Collect garbage from now on: a start only makes objects, and they stay."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20)


def _end_soon() -> None:
    """End the process in two seconds if it has not ended by itself: nobody is left to wait for."""
    timer = threading.Timer(END_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
