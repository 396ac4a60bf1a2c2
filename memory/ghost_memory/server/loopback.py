"""The server over Streamable HTTP, on loopback only.

A page in a browser on this machine must not reach it, so `guard` judges Host and Origin. There is no other
check: whoever may open a port of this machine may read and change memory.
"""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any, Final, override

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from ghost_core.errors import UnavailableError
from ghost_memory.server.guard import Guard

__all__ = ["HOST", "PATH", "listener", "serve"]

HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"
_GRACE_SECONDS: Final = 2


def listener(port: int) -> socket.socket:
    """Take a port of loopback; 0 is any free one. Raises UnavailableError `port.busy`."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(64)
    except OSError as error:
        made.close()
        raise UnavailableError(
            f"port {port}: in use by another process",
            code="port.busy",
            hint="ghost mcp --http --port PORT",
        ) from error
    return made


async def serve(server: Server[Any], taken: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve until a signal asks to stop; `ready` hears the address once connections are accepted."""
    port = taken.getsockname()[1]
    web = _Web(_config(server, port), lambda: ready(f"http://{HOST}:{port}{PATH}"))
    with contextlib.closing(taken):
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_at_signal, web)
            await web.serve(sockets=[taken])
            group.cancel_scope.cancel()


def _config(server: Server[Any], port: int) -> uvicorn.Config:
    """Return how it is served: one known reader of HTTP, no upgrades, nobody who speaks for a client."""
    # The SDK's own check of Host takes `localhost:80.evil.example` for a port of localhost.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        streamable_http_path=PATH, host=HOST, transport_security=unchecked
    )
    return uvicorn.Config(
        Guard(app, port),
        http="h11",
        ws="none",
        proxy_headers=False,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        server_header=False,
    )


async def _stop_at_signal(web: uvicorn.Server) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            web.should_exit = True


class _Web(uvicorn.Server):
    """A web server that says when it accepts connections, and leaves signals to us.

    By itself it would raise the signal again at its end, and the store would never be closed.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, then say so."""
        await super().startup(sockets)
        self._ready()

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signals."""
        yield
