"""What waits for an HTTP/2 peer that takes nothing: bounded, by not reading from the other side.

The engine keeps all that does not fit into the peer's window, and goes on reading. Here the connection whose
bytes are kept is not read from until there is room, so that the system holds back its sender.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, override

from mitmproxy.connection import Connection
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import _http2
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection

from ghost_addons import wrapping
from ghost_core.errors import FailedError

STREAM_BYTES = 4_000_000
"""How much of one stream is kept."""
_BOTH_WAYS = 16

type Commands = Iterator[commands.Command]
type Stream = tuple[Backlog, int]


class Backlog(BufferedH2Connection):
    """One side in HTTP/2, as the engine sees it; `peer` is its connection."""

    fed: ClassVar[list[Stream]] = []
    """The streams of any connection that the event now under way gave bytes to keep."""
    peer: Connection | None = None

    @override
    def send_data(self, stream_id: int, *args: Any, **options: Any) -> None:
        """Send what fits into the window, and note the stream if something is kept."""
        super().send_data(stream_id, *args, **options)
        if self.stream_buffers.get(stream_id):
            self.fed.append((self, stream_id))

    def kept(self, stream_id: int) -> int:
        """Return how many bytes of a stream wait for its peer."""
        return sum(len(each.data) for each in self.stream_buffers.get(stream_id, ()))


class Waits:
    """Who waits for room, of the connections that hang on one client."""

    def __init__(self) -> None:
        self._moved = asyncio.Event()
        self._client_waits = False

    def moved(self) -> None:
        """Have those who wait look again."""
        self._moved.set()

    async def room(self, fed: list[Stream], *, reader: Connection | None) -> None:
        """Wait until the streams may keep more; one never waits for itself.

        While the client is not read either, its windows cannot open, so more is kept.
        """
        for backlog, stream_id in fed:
            while backlog.peer is not reader and backlog.kept(stream_id) > self._limit:
                self._moved.clear()
                await self._moved.wait()

    @property
    def _limit(self) -> int:
        return STREAM_BYTES * (_BOTH_WAYS if self._client_waits else 1)

    def client_waits(self, *, now: bool) -> None:
        """Note whether the client is not read from."""
        self._client_waits = now
        self.moved()


def begin() -> None:
    """Forget what the event before fed: others wait for that."""
    Backlog.fed.clear()


def taken() -> list[Stream]:
    """Return the streams that the event fed, each once."""
    found = list(dict.fromkeys(Backlog.fed))
    Backlog.fed.clear()
    return found


def knowing(begun: Callable[..., None]) -> Callable[..., None]:
    """Wrap the beginning of a connection in HTTP/2: its backlog knows for whom it is."""

    def __init__(self: Any, context: object, conn: Connection) -> None:  # noqa: N807  # it stands for that
        begun(self, context, conn)
        self.h2_conn.peer = conn

    return __init__


def dropping(close: Callable[..., Commands]) -> Callable[..., Commands]:
    """Wrap the end of a connection in HTTP/2: nothing waits for its peer any more."""

    def close_connection(connection: Any, msg: str) -> Commands:
        connection.h2_conn.stream_buffers.clear()
        yield from close(connection, msg)

    return close_connection


def install() -> None:
    """Put our parts in the place of the engine's, once."""
    if not hasattr(_http2, "BufferedH2Connection"):
        raise FailedError("the engine has no HTTP/2 connection any more", code="proxy.engine")
    setattr(_http2, "BufferedH2Connection", Backlog)  # noqa: B010  # it is not ours to assign
    wrapping.around(_http2.Http2Connection, "__init__", knowing)
    wrapping.around(_http2.Http2Connection, "close_connection", dropping)
