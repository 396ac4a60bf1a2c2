"""One client connection, conducted without detours: hooks run where they start, events need no lock.

The engine makes a named task and two context managers for each hook, and guards its events by a lock,
because a hook that ends at once would otherwise come back into the loop that started it. Here such an
event waits in a line until the loop has carried out what it is at. Order and effects are the engine's.

What takes long pauses between two commands (`pacing`); what other connections bring meanwhile waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Coroutine
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, override

from mitmproxy import hooks
from mitmproxy.connection import Connection
from mitmproxy.proxy import commands, events, mode_servers, server
from mitmproxy.utils import asyncio_utils

from ghost_addons import backlog, chain, pacing, seams, shortcut

if TYPE_CHECKING:
    from mitmproxy.master import Master
    from mitmproxy.options import Options
    from mitmproxy.proxy.mode_specs import ProxyMode

HIGH_WATER_BYTES = 64 * 1024  # where asyncio's transports begin to hold a writer back


_ENGINE = mode_servers.ProxyConnectionHandler


class Conductor(mode_servers.ProxyConnectionHandler):
    """Carries out what the layers of one client connection ask for."""

    table: ClassVar[chain.Table]

    def __init__(
        self,
        master: Master,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        options: Options,
        mode: ProxyMode,
    ) -> None:
        super().__init__(master, reader, writer, options, mode)  # type: ignore[no-untyped-call]
        self._line: deque[events.Event] = deque()
        self._conducting = False
        self._piped = False
        self._running: set[asyncio.Task[None]] = set()
        self._waits = backlog.Waits()
        self._reader: Connection | None = None
        self._own_pace = pacing.Pace()
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._cancelled: set[asyncio.Task[object]] = set()
        self._began = 0.0

    @property
    def _pace(self) -> pacing.Pace:
        return pacing.of(self.client.id) or self._own_pace

    @override
    async def server_event(self, event: events.Event) -> None:
        """Hand an event to the layers, after those that came before it."""
        calm = not self._pace.slow and self._resumed.is_set()
        if calm or not isinstance(event, events.DataReceived):
            await self._take(event)
        else:
            await self._in_slices(event)
        if self._cancelled and _task() in self._cancelled:
            self._cancelled.discard(_task())
            _task().cancel()

    async def _in_slices(self, event: events.DataReceived) -> None:
        """Hand on what came piece by piece, each in a turn of ours; what is closed meanwhile says no more."""
        for number, piece in enumerate(pacing.slices(event)):
            await self._rest(self._pace.turn())
            while not self._resumed.is_set():
                await self._rest(self._resumed.wait())
            if _task() in self._cancelled or (number and event.connection not in self.transports):
                return
            await self._take(piece, more=number > 0)

    async def _take(self, event: events.Event, *, more: bool = False) -> None:
        self._line.append(event)
        if self._conducting:  # a hook ended at once: the loop below goes on with its event
            return
        self._conducting = True
        self._reader = event.connection if isinstance(event, events.DataReceived) else None
        if not more:
            backlog.begin()
        self._began = pacing.now()
        try:
            while self._line:
                await self._conduct(self._line.popleft())
        finally:
            self._conducting = False
            self._pace.took(pacing.now() - self._began)
            self._waits.moved()

    async def _conduct(self, event: events.Event) -> None:
        self.timeout_watchdog.register_activity()
        try:
            if not self._piped:
                self._piped = shortcut.take(self, event)
            for command in self.layer.handle_event(event):
                if isinstance(command, commands.StartHook):
                    self._start(command)
                elif isinstance(command, commands.SendData):
                    self._send(command)
                else:
                    self._carry_out(command)
                if pacing.now() - self._began > pacing.TURN_SECONDS:
                    await self._pause()
        except Exception:  # noqa: BLE001  # as the engine: one connection may break, the proxy goes on
            self.log("mitmproxy has crashed!", logging.ERROR, exc_info=True)

    async def _pause(self) -> None:
        """Let others have a turn in the middle of an event; what comes meanwhile waits for its end."""
        self._pace.took(pacing.now() - self._began)
        self._resumed.clear()
        await self._rest(self._pace.turn())
        self._resumed.set()
        self._began = pacing.now()

    async def _rest(self, wait: Awaitable[object]) -> None:
        """Wait, and keep what the event under way has fed. Who is cancelled first ends what it is at."""
        fed = backlog.taken()
        try:
            await wait
        except asyncio.CancelledError:
            _task().uncancel()
            self._cancelled.add(_task())
        backlog.Backlog.fed[:] = fed

    def _send(self, command: commands.SendData) -> None:
        found = self.transports.get(command.connection)
        if found is None:
            return  # it was closed meanwhile
        if found.writer is not None and not found.writer.is_closing():
            found.writer.write(command.data)

    def _carry_out(self, command: commands.Command) -> None:
        match command:
            case commands.OpenConnection():
                task = self._task(self.open_connection(command), "server connection handler")
                self.transports[command.connection] = server.ConnectionIO(handler=task)
            case commands.RequestWakeup():
                self.wakeup_timer.add(self._task(self.wakeup(command), "wakeup timer"))
            case commands.CloseConnection():
                if command.connection in self.transports:
                    half = isinstance(command, commands.CloseTcpConnection) and command.half_close
                    self.close_connection(command.connection, half)
            case commands.ConnectionCommand() if command.connection not in self.transports:
                pass
            case commands.Log():
                self.log(command.message, command.level)
            case _:
                raise RuntimeError(f"unexpected command: {type(command).__name__}")

    def _task(self, work: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio_utils.create_task(
            work, name=name, keep_ref=False, client=self.client.peername
        )
        return task

    def _start(self, hook: commands.StartHook) -> None:
        handlers = self.table.of(hook.name)
        if not handlers:
            if hook.blocking:
                self._line.append(events.HookCompleted(hook))
            return
        task = asyncio.Task(
            self._hooked(hook, handlers), loop=asyncio.get_running_loop(), eager_start=True
        )
        if not task.done():  # the loop holds tasks weakly
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _hooked(self, hook: commands.StartHook, handlers: chain.Handlers) -> None:
        """Run the handlers of a hook; meanwhile the connection is not idle."""
        watchdog = self.timeout_watchdog
        watchdog.blocker += 1
        watchdog.can_timeout.clear()
        try:
            await chain.call(handlers, [getattr(hook, name) for name in _arguments(hook.name)])
        finally:
            watchdog.blocker -= 1
            if watchdog.blocker == 0:
                watchdog.register_activity()
                watchdog.can_timeout.set()
        if hook.blocking:
            await self.server_event(events.HookCompleted(hook))

    @override
    async def drain_writers(self) -> None:
        """Wait for peers that read slowly; most read fast, and then there is nothing to wait for."""
        fed, reader = backlog.taken(), self._reader
        full = any(_is_full(each.writer) for each in self.transports.values())
        if not (fed or full):
            return
        if reader is self.client:
            self._waits.client_waits(now=True)
        try:
            if full:
                await super().drain_writers()  # type: ignore[no-untyped-call]
            await self._waits.room(fed, reader=reader)
        finally:
            if reader is self.client:
                self._waits.client_waits(now=False)


def install(table: chain.Table) -> bool:
    """Conduct connections from now on; False, and nothing changes, if the engine is another one."""
    read = all(seams.known(getattr(owner, name, None), digest) for owner, name, digest in _READ)
    if read:
        Conductor.table = table
        setattr(mode_servers, "ProxyConnectionHandler", Conductor)  # noqa: B010  # not ours to assign
    return read


_READ = (
    (server.ConnectionHandler, "server_event", "a2b42657ebe8bf6d"),
    (server.ConnectionHandler, "hook_task", "9ac7970160526268"),
    (server.ConnectionHandler, "drain_writers", "6b57434604561e3e"),
    (server.ConnectionHandler, "open_connection", "5e0b3cbaf7a4030a"),
    (_ENGINE, "handle_hook", "9f8b52fd798203c9"),
)


def _task() -> asyncio.Task[object]:
    task = asyncio.current_task()
    assert task is not None
    return task


@lru_cache(maxsize=64)
def _arguments(hook: str) -> tuple[str, ...]:
    """Return the names of a hook's arguments: every hook is a dataclass."""
    return tuple(each.name for each in fields(hooks.all_hooks[hook]))  # type: ignore[arg-type]


def _is_full(writer: object) -> bool:
    if not isinstance(writer, asyncio.StreamWriter):
        return False
    return writer.transport.get_write_buffer_size() > HIGH_WATER_BYTES
