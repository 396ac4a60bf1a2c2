"""The server on stdin and stdout: both protocol eras on one connection, every line answered, a quick end.

A request with the per-request envelope of 2026-07-28 is served statelessly, everything else by the handshake,
each by the SDK's own loop. So a client that asks `server/discover` and then initializes is served too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from ghost_memory.server.lines import Refused, lines, read, refusal
from ghost_memory.server.streams import Streams

__all__ = ["Hooks", "serve"]

DRAIN_SECONDS: Final = 1.0
"""How long answers that are under way may take after the client has closed its end."""

_ENDLESS: Final = "subscriptions/listen"
_CANCELLED: Final = "notifications/cancelled"

type _Inbound = MemoryObjectSendStream[SessionMessage | Exception]
type _Outbound = MemoryObjectSendStream[SessionMessage | bytes]


def _nothing() -> None:
    """Do nothing: nobody wants to hear of it."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who hears of what happens: of the first answer, once it is written, and of the client's end of file."""

    answered: Callable[[], None] = _nothing
    ended: Callable[[], None] = _nothing


@dataclass(slots=True)
class _Connection:
    """One client: the two loops that serve it, and the requests that wait for an answer."""

    modern: _Inbound
    handshake: _Inbound
    waiting: set[object] = field(default_factory=set)
    changed: anyio.Event = field(default_factory=anyio.Event)

    async def take(self, message: JSONRPCMessage) -> None:
        """Give a message to the loop of its era; a cancellation to both, it may name a request of either."""
        wrapped = SessionMessage(message)
        if isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
            self.done((message.params or {}).get("requestId"))
            await self.modern.send(wrapped)
        elif isinstance(message, JSONRPCRequest) and message.method != _ENDLESS:
            self.waiting.add(message.id)
        await (self.modern if _is_modern(message) else self.handshake).send(wrapped)

    def done(self, request: object) -> None:
        """Count a request as answered or given up."""
        if isinstance(request, int | str):
            self.waiting.discard(request)
        self.changed.set()
        self.changed = anyio.Event()

    async def drain(self) -> None:
        """Wait until every request is answered, but not for long."""
        with anyio.move_on_after(DRAIN_SECONDS):
            while self.waiting:
                await self.changed.wait()

    async def close(self) -> None:
        """End both loops."""
        await self.modern.aclose()
        await self.handshake.aclose()


async def serve(server: Server[Any], streams: Streams, hooks: Hooks | None = None) -> None:
    """Serve one client until it closes its end, or a signal asks to stop."""
    hooks = hooks or Hooks()
    out, outgoing = anyio.create_memory_object_stream[SessionMessage | bytes](64)
    async with server.lifespan(server) as state, anyio.create_task_group() as group:
        modern, handshake = (_loop(server, state, out.clone(), group) for _ in range(2))
        connection = _Connection(modern, handshake)
        group.start_soon(_write, streams.sink, outgoing, connection, hooks.answered, group)
        signals = anyio.CancelScope()
        group.start_soon(_stop_at_signal, group, signals)
        async with out:
            await _receive(streams.source, connection, out, hooks.ended)
            await connection.drain()
            await connection.close()
        signals.cancel()


def _loop(server: Server[Any], state: Any, out: _Outbound, group: TaskGroup) -> _Inbound:
    """Start one of the SDK's loops; the first request it gets decides its era."""
    into, source = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    options = server.create_initialization_options()
    group.start_soon(
        partial(
            serve_dual_era_loop, server, source, out, lifespan_state=state, init_options=options
        )
    )
    return into


async def _receive(
    source: int, connection: _Connection, out: _Outbound, ended: Callable[[], None]
) -> None:
    """Hand on every message that comes in, until the end of the stream; answer lines that are none."""
    into, incoming = anyio.create_memory_object_stream[JSONRPCMessage | Refused](0)
    reader = partial(_pump, source, into, asyncio.get_running_loop())
    threading.Thread(target=reader, name="ghost-mcp-stdin", daemon=True).start()
    async with incoming:
        async for message in incoming:
            if isinstance(message, Refused):
                await out.send(refusal(message))
            else:
                await connection.take(message)
    ended()


def _pump(
    source: int,
    into: MemoryObjectSendStream[JSONRPCMessage | Refused],
    loop: asyncio.AbstractEventLoop,
) -> None:
    """Read lines in a thread of its own; waits while the loop is busy, ends with the stream or the loop."""

    def wait_for(action: Awaitable[None]) -> None:
        async def run() -> None:
            await action

        asyncio.run_coroutine_threadsafe(run(), loop).result()

    with contextlib.suppress(RuntimeError, anyio.BrokenResourceError, asyncio.CancelledError):
        with contextlib.suppress(OSError):
            for line in lines(partial(os.read, source)):
                for message in read(line):
                    wait_for(into.send(message))
        wait_for(into.aclose())


async def _write(
    sink: int,
    outgoing: MemoryObjectReceiveStream[SessionMessage | bytes],
    connection: _Connection,
    answered: Callable[[], None],
    group: TaskGroup,
) -> None:
    """Write every answer as one line; a client that no longer listens ends the server."""
    first = True
    async with outgoing:
        async for item in outgoing:
            try:
                await anyio.to_thread.run_sync(_write_all, sink, _line(item))
            except OSError:
                group.cancel_scope.cancel()
                return
            if isinstance(item, SessionMessage):
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    connection.done(item.message.id)
                if first:
                    first = False
                    answered()


def _line(item: SessionMessage | bytes) -> bytes:
    if isinstance(item, bytes):
        return item + b"\n"
    return item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]


async def _stop_at_signal(group: TaskGroup, scope: anyio.CancelScope) -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    with scope, anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            group.cancel_scope.cancel()


def _is_modern(message: JSONRPCMessage) -> bool:
    """Tell whether a message carries the envelope of the stateless era; `initialize` never does."""
    if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
        return False
    meta = (message.params or {}).get("_meta")
    enveloped = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    return enveloped and message.method != "initialize"
