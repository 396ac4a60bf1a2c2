"""What a websocket carries beside its messages reaches nobody as it was sent."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue

import pytest
from mitmproxy.proxy.layers import websocket
from websockets.sync.client import connect
from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, Pong, TextMessage

from ghost_addons import frames
from ghost_core.errors import FailedError
from support.agent import Tunnel, secure_connect
from support.exchange import Exchange
from support.home import SECRET
from support.http1 import Http1Exchange
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream
from support.websocket import accept_value

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
HEADERS = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": KEY,
    "Sec-WebSocket-Version": "13",
}


@dataclass
class Side:
    """One end of a websocket, driven event by event."""

    state: Connection
    write: Callable[[bytes], None]
    read: Callable[[], bytes]
    queue: list[Event] = field(default_factory=list)

    def send(self, event: Event) -> None:
        """Send one event."""
        self.write(self.state.send(event))

    def next(self) -> Event:
        """Wait for the next event."""
        while not self.queue:
            self.state.receive_data(self.read())
            self.queue += self.state.events()
        return self.queue.pop(0)


def upstream(exchange: Exchange) -> Side:
    """Take the upgrade and return the upstream's end."""
    assert isinstance(exchange, Http1Exchange)
    exchange.keep = False
    exchange.raw(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept_value(KEY.encode()) + b"\r\n\r\n"
    )
    sock = exchange.link.sock
    return Side(Connection(ConnectionType.SERVER), sock.sendall, lambda: sock.recv(65_536))


@contextmanager
def agent(proxy: LiveProxy, session: LiveSession, up: Upstream) -> Iterator[Side]:
    """Open a websocket to /frames and yield the agent's end."""
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("GET", "/frames", {"Host": up.authority, **HEADERS})
        assert tunnel.head().status == 101
        yield Side(Connection(ConnectionType.CLIENT), tunnel.send, lambda: received(tunnel))


def received(tunnel: Tunnel) -> bytes:
    return bytes(tunnel.reader.some(65_536))


def test_no_byte_of_a_ping_a_pong_or_a_close_reaches_the_agent(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    def leak(exchange: Exchange) -> None:
        side, secret = upstream(exchange), SECRET.encode()
        side.send(Ping(payload=secret))
        side.send(Pong(payload=secret))
        side.send(CloseConnection(code=1000, reason=SECRET))
        exchange.pause(0.2)

    up.route("/frames", leak)
    with agent(proxy, session, up) as side:
        seen = [side.next(), side.next(), side.next()]
    assert seen == [
        Ping(payload=b"1"), Pong(payload=b""), CloseConnection(code=1000, reason=""),
    ]  # fmt: skip
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["ended"] == "complete"


def test_no_byte_of_a_ping_a_pong_or_a_close_reaches_the_upstream(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    seen: SimpleQueue[Event] = SimpleQueue()

    def watch(exchange: Exchange) -> None:
        side = upstream(exchange)
        for _ in range(3):
            seen.put(side.next())

    up.route("/frames", watch)
    with agent(proxy, session, up) as side:
        side.send(Ping(payload=b"mine"))
        side.send(Pong(payload=b"mine"))
        side.send(CloseConnection(code=1001, reason="mine"))
        assert isinstance(side.next(), CloseConnection)
    assert [seen.get(timeout=5) for _ in range(3)] == [
        Ping(payload=b"1"), Pong(payload=b""), CloseConnection(code=1001, reason=""),
    ]  # fmt: skip


def test_whoever_asks_gets_its_own_payload_back(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    answered: SimpleQueue[Event] = SimpleQueue()

    def ask(exchange: Exchange) -> None:
        side = upstream(exchange)
        for number in range(40):
            side.send(Ping(payload=b"%d!" % number))
        answered.put(side.next())

    up.route("/frames", ask)
    with agent(proxy, session, up) as side:
        asked = [side.next() for _ in range(40)]
        last = asked[-1]
        assert isinstance(last, Ping)
        side.send(last.response())
        assert answered.get(timeout=5) == Pong(payload=b"39!")


def test_a_real_client_sees_that_its_ping_was_answered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with connect(
        f"wss://{up.authority}/ws",
        ssl=ssl.create_default_context(cafile=str(proxy.ca)),
        proxy=f"http://{session.sid}:{session.token}@127.0.0.1:{proxy.port}",
        open_timeout=5,
        close_timeout=2,
    ) as client:
        assert client.ping(b"still there").wait(5)


@pytest.mark.parametrize("piece", [b"", b"\0" * 60_000, "\u00e9" * 30_000], ids=type)
def test_a_message_that_does_not_end_closes_the_websocket(
    piece: bytes | str,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "MESSAGE_BYTES", 600_000)

    def flood(exchange: Exchange) -> None:
        side = upstream(exchange)
        for _ in range(10_000 if not piece else 11):
            if isinstance(piece, str):
                side.send(TextMessage(piece, message_finished=False))
            else:
                side.send(BytesMessage(piece, message_finished=False))
        side.next()

    up.route("/frames", flood)
    with agent(proxy, session, up) as side:
        assert side.next() == CloseConnection(code=1009, reason="")
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["ended"] == "aborted"


def test_many_messages_that_end_have_no_limit_together(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "MESSAGE_BYTES", 100_000)

    def talk(exchange: Exchange) -> None:
        side = upstream(exchange)
        for _ in range(5):
            side.send(BytesMessage(b"\0" * 30_000, message_finished=False))
            side.send(BytesMessage(b"\0" * 30_000))
        side.next()

    up.route("/frames", talk)
    with agent(proxy, session, up) as side:
        size = 0
        while size < 300_000:
            event = side.next()
            assert isinstance(event, BytesMessage)
            size += len(event.data)
        side.send(CloseConnection(code=1000))
        assert isinstance(side.next(), CloseConnection)


def test_an_engine_without_the_connection_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(websocket, "WebsocketConnection")
    with pytest.raises(FailedError) as caught:
        frames.install()
    assert caught.value.code == "proxy.engine"
