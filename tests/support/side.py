"""Both ends of a websocket, driven event by event, for what no real client would send.

up.route("/frames", lambda exchange: taken(exchange).send(TextMessage("x")))
with offered(proxy, session, up) as agent:
    agent.next()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import Event

from support.agent import Answer, Tunnel, secure_connect
from support.http1 import Http1Exchange
from support.websocket import accept_value

if TYPE_CHECKING:
    from support.exchange import Exchange
    from support.live import LiveProxy, LiveSession
    from support.upstream import Upstream

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
HEADERS = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": KEY,
    "Sec-WebSocket-Version": "13",
}


@dataclass
class Side:
    """One end of a websocket."""

    state: Connection
    write: Callable[[bytes], None]
    read: Callable[[], bytes]
    queue: list[Event] = field(default_factory=list)

    def send(self, *events: Event) -> None:
        """Send events in one breath."""
        self.write(b"".join([self.state.send(event) for event in events]))

    def next(self) -> Event:
        """Wait for the next event."""
        while not self.queue:
            self.state.receive_data(self.read())
            self.queue += self.state.events()
        return self.queue.pop(0)

    def rest(self) -> list[Event]:
        """Return what comes up to the end of the connection."""
        found: list[Event] = []
        while piece := self.read():
            self.state.receive_data(piece)
            found += self.state.events()
        return found


def taken(exchange: Exchange, *lines: str) -> Side:
    """Take the upgrade, with further header lines, and return the upstream's end."""
    assert isinstance(exchange, Http1Exchange)
    exchange.keep = False
    more = "".join(f"{line}\r\n" for line in lines)
    exchange.raw(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept_value(KEY.encode()) + b"\r\n" + more.encode() + b"\r\n"
    )
    sock = exchange.link.sock
    return Side(Connection(ConnectionType.SERVER), sock.sendall, lambda: sock.recv(65_536))


@contextmanager
def asked(
    proxy: LiveProxy, session: LiveSession, up: Upstream, *lines: tuple[str, str]
) -> Iterator[tuple[Tunnel, Answer]]:
    """Ask for a websocket at /frames and yield the connection with the head of the answer."""
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("GET", "/frames", [("Host", up.authority), *HEADERS.items(), *lines])
        yield tunnel, tunnel.head()


@contextmanager
def offered(proxy: LiveProxy, session: LiveSession, up: Upstream) -> Iterator[Side]:
    """Open a websocket to /frames and yield the agent's end."""
    with asked(proxy, session, up) as (tunnel, head):
        assert head.status == 101
        yield Side(Connection(ConnectionType.CLIENT), tunnel.send, lambda: received(tunnel))


def received(tunnel: Tunnel) -> bytes:
    """Return the next bytes of a connection, or none at its end."""
    try:
        return bytes(tunnel.reader.some(65_536))
    except EOFError:
        return b""
