"""A recording upstream on loopback: HTTPS or HTTP, in its own threads, for synchronous tests.

with Upstream(certs, names=("api.test", "localhost")) as up:
    ...                      # up.port, up.url, up.requests, up.connections, up.route(...)
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Self

from support import http1, http2, routes
from support.exchange import WAIT_SECONDS, Handler, Record, Sent
from support.link import Link

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.certs import Certs, Leaf

NAMES = ("localhost", "127.0.0.1", "::1")
IDLE_SECONDS = 60.0


class Upstream:
    """Counts every TCP connection and keeps every request; `certs=None` serves plain HTTP.

    `alpn` lists what the server negotiates, the first is preferred: add "h2" for HTTP/2.
    `ended` gives it a certificate whose time is over.
    """

    def __init__(
        self,
        certs: Certs | None = None,
        *,
        names: tuple[str, ...] = NAMES,
        alpn: tuple[str, ...] = ("http/1.1",),
        ended: bool = False,
    ) -> None:
        self.secure = certs is not None
        self.port = 0
        self._requests: list[Record] = []
        self._sent: list[Sent] = []
        self._routes: dict[str, Handler] = {}
        self._links: list[Link] = []
        self._listeners: list[socket.socket] = []
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._connections = 0
        self._body_bytes = 0
        self._names: dict[int, str | None] = {}
        self._context = self._make_context(certs.leaf(*names, ended=ended), alpn) if certs else None

    @property
    def url(self) -> str:
        """The base URL under `localhost`."""
        return f"{'https' if self.secure else 'http'}://localhost:{self.port}"

    @property
    def authority(self) -> str:
        """`localhost:PORT`, as CONNECT spells it."""
        return f"localhost:{self.port}"

    @property
    def requests(self) -> tuple[Record, ...]:
        """Every request so far, in the order in which its body was complete."""
        with self._changed:
            return tuple(self._requests)

    @property
    def connections(self) -> int:
        """Accepted TCP connections, also those without a request."""
        with self._changed:
            return self._connections

    @property
    def body_bytes(self) -> int:
        """Body bytes that have arrived so far, of unfinished requests too."""
        with self._changed:
            return self._body_bytes

    @property
    def sent(self) -> tuple[Sent, ...]:
        """The pieces of streaming answers as they were sent, with their monotonic times."""
        with self._changed:
            return tuple(self._sent)

    def route(self, path: str, handler: Handler) -> None:
        """Answer a path (without query) with an own callable, before the built-in routes."""
        self._routes[path] = handler

    def wait_requests(self, count: int) -> tuple[Record, ...]:
        """Wait for that many requests; raises TimeoutError."""
        self.wait_until(lambda: len(self._requests) >= count, f"{count} requests")
        return self.requests

    def wait_sent(self, count: int) -> tuple[Sent, ...]:
        """Wait for that many pieces of streaming answers; raises TimeoutError."""
        self.wait_until(lambda: len(self._sent) >= count, f"{count} sent pieces")
        return self.sent

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until a condition over the records holds; raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(holds, timeout=WAIT_SECONDS):
                raise TimeoutError(f"upstream: expected {what}, saw {len(self._requests)} requests")

    def __enter__(self) -> Self:
        first = socket.create_server(("127.0.0.1", 0))
        self.port = first.getsockname()[1]
        self._listeners.append(first)
        with contextlib.suppress(OSError):
            self._listeners.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for listener in self._listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.drop_connections()

    def drop_connections(self) -> None:
        """Cut every open connection; new ones are accepted."""
        with self._changed:
            links = list(self._links)
        for link in links:
            link.cut()

    def _accept(self, listener: socket.socket) -> None:
        while not self._stopping.is_set():
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self._changed:
                self._connections += 1
                number = self._connections
                self._changed.notify_all()
            threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _serve(self, sock: socket.socket, number: int) -> None:
        sock.settimeout(IDLE_SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            link = self._link(sock, number)
        except (OSError, ssl.SSLError):
            sock.close()
            return
        try:
            (http2 if link.alpn == "h2" else http1).serve(link)
        except OSError:
            pass
        finally:
            link.cut()

    def _link(self, sock: socket.socket, number: int) -> Link:
        alpn = sni = None
        if self._context is not None:
            secured = self._context.wrap_socket(
                sock, server_side=True, do_handshake_on_connect=False
            )
            try:
                secured.do_handshake()
            except OSError:
                secured.close()
                raise
            alpn, sni = secured.selected_alpn_protocol(), self._names.pop(id(secured), None)
            sock = secured
        link = Link(
            sock=sock,
            number=number,
            alpn=alpn,
            sni=sni,
            stopping=self._stopping,
            find=lambda path: self._routes.get(path) or routes.find(path),
            record=self._record,
            note=self._note,
            count=self._count,
        )
        with self._changed:
            self._links.append(link)
        return link

    def _make_context(self, leaf: Leaf, alpn: tuple[str, ...]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(leaf.cert, leaf.key)
        context.set_alpn_protocols(list(alpn))
        context.sni_callback = self._see_name
        return context

    def _see_name(
        self, sock: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext
    ) -> None:
        self._names[id(sock)] = name

    def _record(self, record: Record) -> None:
        with self._changed:
            self._requests.append(record)
            self._changed.notify_all()

    def _note(self, piece: Sent) -> None:
        with self._changed:
            self._sent.append(piece)
            self._changed.notify_all()

    def _count(self, size: int) -> None:
        with self._changed:
            self._body_bytes += size
            self._changed.notify_all()
