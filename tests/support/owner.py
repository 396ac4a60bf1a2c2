"""Owners of a session for those who ask one: an honest one, and one that does what a test says.

with owner_of(sid, handler): ...                  # answers on control.sock from a loop of its own
with honest(recorder, sid, clock): ...            # holds lock and key, signs as possess does
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ghost_core import ids
from ghost_core.clock import Clock
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger.canonical import Value
from ghost_ledger.recorder import Draft, Recorder
from ghost_ledger.session.control_server import ControlServer, Handler
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.messages import Message
from ghost_ledger.session.signing import Signing
from ghost_ledger.session.spawn import spawn

START_SECONDS = 5.0


@contextmanager
def owner_of(sid: str, handler: Handler) -> Iterator[None]:
    """Answer for a session by this handler, in a thread, until the block ends."""
    ready = threading.Event()
    end: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        end.append((asyncio.get_running_loop(), asyncio.Event()))
        async with ControlServer(sid, handler):
            ready.set()
            await end[0][1].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(START_SECONDS), "the owner did not start"
    try:
        yield
    finally:
        loop, ended = end[0]
        loop.call_soon_threadsafe(ended.set)
        thread.join(START_SECONDS)
        assert not thread.is_alive(), "the owner did not stop"


@contextmanager
def honest(recorder: Recorder, sid: str, clock: Clock) -> Iterator[Signing]:
    """Own a session, with this recorder for its own entries, and sign for others what they may ask for."""
    with Custody.acquire(sid) as custody:
        recorder.attach(sid, custody.key)
        signing = Signing(recorder.engine, recorder.origin, sid, custody.key, clock)

        async def answer(request: Message) -> Message:
            return signing.answer(request)

        with owner_of(sid, answer):
            yield signing
        recorder.detach(sid)


def spawned(recorder: Recorder, home: Home, settings: Settings, clock: Clock, **more: Any) -> str:
    """Spawn a session that nobody owns; return its id."""
    wanted: Mapping[str, Any] = {"ttl_seconds": 300, "parent": None, **more}
    made = spawn(
        recorder,
        home,
        settings,
        intent="test",
        scopes=["demo_api"],
        clock=clock,
        policy_hash="0" * 64,
        contains=lambda *_: True,
        **wanted,
    )
    recorder.detach(made.session_id)
    made.custody.release()
    return made.session_id


def change(sid: str, **fields: Value) -> Draft:
    """Draft a change of memory; the recorder decides in which session it goes."""
    said: dict[str, Value] = {"memory": "m1", "change": "memory.saved", "session": sid}
    return Draft("", "memory.changed", ids.entry_id(), {**said, **fields})
