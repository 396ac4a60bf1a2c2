"""Tells clients of both eras which resources are stale, whoever changed them: a call here or another process.

While nobody listens, nothing is looked at.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from ghost_memory.server.service import Service
from ghost_memory.server.subscribers import Subscribers

if TYPE_CHECKING:  # loading the store takes as long as the rest of the start
    from ghost_memory.server.watch import Watch

__all__ = ["Announcer"]

LOOK_SECONDS: Final = 0.5
"""How long a change of another process may go unnoticed."""

_log: Final = logging.getLogger("ghost.mcp")

type Context = ServerRequestContext[Any, Any]


class Announcer:
    """Who wants to hear, and what there is to tell."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._subscribers = Subscribers()
        self._bus = InMemorySubscriptionBus()
        self._stream = ListenHandler(self._bus)
        self._streams = 0
        self._watch: Watch | None = None
        self._group: TaskGroup | None = None
        self._looking = anyio.Lock()
        self._since: int | None = None

    @asynccontextmanager
    async def lifespan(self, _server: object) -> AsyncIterator[dict[str, Any]]:
        """Have a place for what goes on beside the calls, as long as the server runs."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield {}
            finally:
                self._group = None
                group.cancel_scope.cancel()
                if self._watch is not None:
                    self._watch.close()

    async def subscribe(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Note the wish of a client of the handshake era."""
        if not self._subscribers.add(context.session, str(params.uri)):
            raise MCPError(types.INVALID_PARAMS, "expected the address of a resource, ghost://…")
        self._begin()
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Forget it."""
        self._subscribers.remove(context.session, str(params.uri))
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a client of 2026-07-28 on a stream, until it leaves."""
        self._begin()
        self._streams += 1
        try:
            return await self._stream(context, params)
        finally:
            self._streams -= 1

    async def tell(self) -> None:
        """Tell of everything that became stale since the last time; trouble here fails no call."""
        if self._since is None:
            return
        try:
            async with self._looking:
                stale = await anyio.to_thread.run_sync(self._stale, self._since)
            await self._subscribers.tell(stale)
            for uri in stale:
                await self._bus.publish(ResourceUpdated(uri))
        except Exception as error:  # noqa: BLE001  # the next change is told again
            _log.warning("a change of memory could not be told: %s", type(error).__name__)

    def _begin(self) -> None:
        """Notice changes from now on; nobody waits for the store, which is opened beside the answer."""
        if self._since is None and self._group is not None:
            self._since = self._service.clock.now_us()
            self._group.start_soon(self._follow)

    async def _follow(self) -> None:
        """Look as long as somebody wants to hear."""
        while True:
            await self.tell()
            await anyio.sleep(LOOK_SECONDS)
            if not (self._streams or self._subscribers):
                break
        watch, self._watch, self._since = self._watch, None, None
        if watch is not None:
            await anyio.to_thread.run_sync(watch.close)

    def _stale(self, since_us: int) -> list[str]:
        from ghost_memory.server.watch import Watch

        self._watch = self._watch or Watch(self._service.engine, since_us)
        return self._watch.stale()
