"""What a websocket carries beside its messages reaches nobody as it was sent."""

from __future__ import annotations

import ssl
from queue import SimpleQueue

import pytest
from mitmproxy.proxy.layers import websocket
from websockets.sync.client import connect
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, Pong, TextMessage

from ghost_addons import frames
from ghost_core.errors import FailedError
from support.exchange import Exchange
from support.home import SECRET
from support.live import LiveProxy, LiveSession
from support.side import offered, taken
from support.upstream import Upstream


def test_no_byte_of_a_ping_a_pong_or_a_close_reaches_the_agent(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    def leak(exchange: Exchange) -> None:
        side, secret = taken(exchange), SECRET.encode()
        side.send(Ping(payload=secret))
        side.send(Pong(payload=secret))
        side.send(CloseConnection(code=1000, reason=SECRET))
        exchange.pause(0.2)

    up.route("/frames", leak)
    with offered(proxy, session, up) as side:
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
        side = taken(exchange)
        for _ in range(3):
            seen.put(side.next())

    up.route("/frames", watch)
    with offered(proxy, session, up) as side:
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
        side = taken(exchange)
        for number in range(40):
            side.send(Ping(payload=b"%d!" % number))
        answered.put(side.next())

    up.route("/frames", ask)
    with offered(proxy, session, up) as side:
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
        side = taken(exchange)
        for _ in range(10_000 if not piece else 11):
            if isinstance(piece, str):
                side.send(TextMessage(piece, message_finished=False))
            else:
                side.send(BytesMessage(piece, message_finished=False))
        side.next()

    up.route("/frames", flood)
    with offered(proxy, session, up) as side:
        assert side.next() == CloseConnection(code=1009, reason="")
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["ended"] == "aborted"


def test_many_messages_that_end_have_no_limit_together(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "MESSAGE_BYTES", 100_000)

    def talk(exchange: Exchange) -> None:
        side = taken(exchange)
        for _ in range(5):
            side.send(BytesMessage(b"\0" * 30_000, message_finished=False))
            side.send(BytesMessage(b"\0" * 30_000))
        side.next()

    up.route("/frames", talk)
    with offered(proxy, session, up) as side:
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
