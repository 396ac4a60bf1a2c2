"""The engine: mitmproxy's own Master with five of its addons and ours, in a process of its own.

The stock tool loads thirty more addons, serves a page that hands out its CA, and opens upstreams before
anybody judged the request. One Master per process: mitmproxy keeps its context in module globals.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import override

from mitmproxy import options

from ghost_addons import ca, chain, conductor, joined, openssl, pages, ports, repairs, seams
from ghost_addons.guard import Guard
from ghost_addons.parts import Master, core, disable_h2c, next_layer, proxyserver, tlsconfig
from ghost_core import log
from ghost_core.errors import FailedError

START_SECONDS = 10.0
IDLE_SECONDS = 3600  # a model may think long without a byte


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the engine listens: one or two addresses, one port."""

    hosts: tuple[str, ...]
    port: int


@dataclass(slots=True)
class Engine:
    """One running proxy."""

    guard: Guard
    authority: ca.Authority
    upstream_ca: Path | None
    folder: tempfile.TemporaryDirectory[str] = field(
        default_factory=lambda: tempfile.TemporaryDirectory(prefix="ghost-engine-")
    )
    _master: Master | None = None
    _server: proxyserver.Proxyserver | None = None
    _running: asyncio.Task[None] | None = None

    async def start(self, hosts: tuple[str, ...], port: int) -> Listening:
        """Listen, and return once connections are really accepted.

        Raises UnavailableError `port.busy` where the port is taken.
        """
        quiet()
        pages.install()
        repairs.install()
        master = Master(self._options())
        ready = asyncio.Event()
        self._server = proxyserver.Proxyserver()
        master.addons.add(
            core.Core(),
            disable_h2c.DisableH2C(),
            self._server,
            next_layer.NextLayer(),
            _Certificates(),
            self.guard,
            _Ready(ready),
        )
        table = chain.shorten(master)
        hosts, port = ports.free(hosts, port)
        master.options.update(**_settings(hosts, port))
        _quicken(master, table)
        self.guard.close_client = self.close_client
        self.guard.cut = self.cut
        self._master = master
        self._running = asyncio.ensure_future(master.run())
        await self._until(ready)
        return self._listening(hosts, port)

    def _options(self) -> options.Options:
        folder = Path(self.folder.name)
        (folder / "mitmproxy-ca.pem").symlink_to(self.authority.key_file)
        roots = ca.upstream_roots(folder / "roots.pem", self.upstream_ca)
        return options.Options(confdir=str(folder), ssl_verify_upstream_trusted_ca=str(roots))

    async def _until(self, ready: asyncio.Event) -> None:
        assert self._running is not None
        waiting = asyncio.ensure_future(ready.wait())
        done, _ = await asyncio.wait(
            {waiting, self._running},
            timeout=START_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        waiting.cancel()
        if self._running in done:
            self._running.result()
        if not ready.is_set():
            raise FailedError("the proxy engine did not start", code="proxy.start")

    def _listening(self, hosts: tuple[str, ...], port: int) -> Listening:
        assert self._server is not None
        for instance in self._server.servers:
            if not instance.is_running:
                raise ports.not_listening(port, instance.last_exception)
        return Listening(hosts, port)

    def close_client(self, client_id: str) -> None:
        """Close a client connection and all that hangs on it, at once."""
        assert self._server is not None
        handler = self._server.connections.get(client_id)
        if handler is None or handler.client not in handler.transports:
            return
        writer = handler.transports[handler.client].writer
        if writer is not None:
            writer.close()  # the engine closes later, and would still write the end of a body
        handler.close_connection(handler.client)

    def cut(self, client_id: str) -> None:
        """Close a client connection, and first those behind it, so that nothing more leaves by them."""
        assert self._server is not None
        handler = self._server.connections.get(client_id)
        if handler is None:
            return
        for side, transport in handler.transports.items():
            if side is not handler.client and transport.writer is not None:
                transport.writer.close()
        self.close_client(client_id)

    async def stop(self, *, grace_seconds: float) -> None:
        """Stop listening, give open connections the grace, close the rest, end."""
        if self._master is None or self._server is None:
            self.folder.cleanup()
            return
        self._master.options.update(server=False)
        loop = asyncio.get_running_loop()
        end = loop.time() + grace_seconds
        while self._server.connections and self.guard.busy and loop.time() < end:
            await asyncio.sleep(0.05)
        for client_id in list(self._server.connections):
            self.close_client(str(client_id))
        while self._server.connections and loop.time() < end + 1:
            await asyncio.sleep(0.01)
        self._master.shutdown()
        if self._running is not None:
            await asyncio.wait({self._running}, timeout=5)
        self.folder.cleanup()


def _quicken(master: Master, table: chain.Table) -> None:
    """Shorten what the engine does for every call, as far as it is the engine that we know."""
    joined.install()
    left = (*seams.install(), *openssl.install())
    seams.freeze(master.options)
    if not conductor.install(table):
        left += ("ConnectionHandler",)
    if left:
        log.events(__name__).warning("engine.unknown", parts=list(left))


class _Certificates(tlsconfig.TlsConfig):
    """The engine's certificates; every call asks for the path of the revocation list, which is fixed."""

    name = "tlsconfig"
    _path = ""

    @override
    def crl_path(self) -> str:
        """Return the path, worked out once."""
        if not self._path:
            self._path = str(super().crl_path())
        return self._path


class _Ready:
    """Tells when the servers are bound."""

    def __init__(self, ready: asyncio.Event) -> None:
        self._ready = ready

    def running(self) -> None:
        """Set the event."""
        self._ready.set()


def _settings(hosts: tuple[str, ...], port: int) -> dict[str, object]:
    return {
        "mode": [f"regular@{host}:{port}" for host in hosts],
        "connection_strategy": "lazy",
        "upstream_cert": False,
        "rawtcp": False,
        "http3": False,
        "ssl_insecure": False,
        "store_streamed_bodies": False,
        "tcp_timeout": IDLE_SECONDS,
    }


def quiet() -> None:
    """Keep the engine's chatter out of our output; its errors still show."""
    logging.getLogger("mitmproxy").setLevel(logging.WARNING)
    for name in ("asyncio", "hpack", "h2"):
        logging.getLogger(name).setLevel(logging.WARNING)
