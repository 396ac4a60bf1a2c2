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

from ghost_core.errors import GhostError
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
        self._begun = anyio.Lock()
        self._following = False

    @asynccontextmanager
    async def lifespan(self, _server: object) -> AsyncIterator[dict[str, Any]]:
        """Have a place for what goes on beside the calls, as long as the server runs."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield {}
            finally:
                self._group, self._following = None, False
                group.cancel_scope.cancel()
                if self._watch is not None:
                    self._watch.close()

    async def subscribe(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Note the wish of a client of the handshake era."""
        if not self._subscribers.add(context.session, str(params.uri)):
            raise MCPError(types.INVALID_PARAMS, "expected the address of a resource, ghost://…")
        await self._begin()
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
        await self._begin()
        self._streams += 1
        try:
            return await self._stream(context, params)
        finally:
            self._streams -= 1

    async def tell(self) -> None:
        """Tell of everything that became stale since the last time; trouble here fails no call."""
        if self._watch is None or not self._following:
            return
        try:
            stale = await anyio.to_thread.run_sync(self._watch.stale)
            await self._subscribers.tell(stale)
            for uri in stale:
                await self._bus.publish(ResourceUpdated(uri))
        except Exception as error:  # noqa: BLE001  # the next change is told again
            _log.warning("a change of memory could not be told: %s", type(error).__name__)

    async def _begin(self) -> None:
        """See to it that changes from now on are noticed."""
        async with self._begun:
            if self._following or self._group is None:
                return
            try:
                await anyio.to_thread.run_sync(self._take)
            except GhostError as error:
                _log.warning("changes of memory cannot be followed: %s", error.code)
                return
            self._following = True
            self._group.start_soon(self._follow)

    def _take(self) -> None:
        from ghost_memory.server.watch import Watch

        self._watch = self._watch or Watch(self._service.engine)
        self._watch.begin()

    async def _follow(self) -> None:
        """Look as long as somebody wants to hear."""
        while self._streams or self._subscribers:
            await anyio.sleep(LOOK_SECONDS)
            await self.tell()
        self._following = False
