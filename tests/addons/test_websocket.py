"""Websockets: judged once, relayed message by message, scrubbed, entered at their close."""

from __future__ import annotations

import ssl
from queue import SimpleQueue

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import CloseConnection, Event, TextMessage
from wsproto.extensions import PerMessageDeflate

from support.agent import secure_connect
from support.exchange import Exchange
from support.home import SECRET
from support.live import LiveProxy, LiveSession
from support.side import Side, asked, offered, received, taken
from support.upstream import Upstream

STOP = '{"verdict": "quarantine", "reason": "it says too much"}'


def opened(proxy: LiveProxy, session: LiveSession, up: Upstream) -> ClientConnection:
    """Open a websocket through the proxy with a real client."""
    context = ssl.create_default_context(cafile=str(proxy.ca))
    return connect(
        f"wss://{up.authority}/ws",
        ssl=context,
        proxy=f"http://{session.sid}:{session.token}@127.0.0.1:{proxy.port}",
        open_timeout=5,
        close_timeout=2,
    )


def test_messages_pass_both_ways_and_are_counted(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with opened(proxy, session, up) as client:
        for text in ("one", "two"):
            client.send(text)
            assert text in str(client.recv(timeout=5))
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["frames_out"], outcome.fields["frames_in"]) == (2, 2)
    assert outcome.fields["http_status"] == 101
    intent = proxy.entries(session)[1]
    assert (intent.type, intent.fields["method"]) == ("action.intent", "GET")


def test_a_secret_in_a_message_arrives_as_a_mark(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with opened(proxy, session, up) as client:
        for how in ("tell", "tell frames"):
            client.send(how)
            assert client.recv(timeout=5) == "Bearer [redacted by ghost]"
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert outcome.fields["scrubbed"] == 2


def test_of_a_secret_over_two_messages_the_rest_becomes_a_mark(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with opened(proxy, session, up) as client:
        client.send("tell messages")
        told = str(client.recv(timeout=5)), str(client.recv(timeout=5))
        assert told[0] == f"Bearer {SECRET}"[: len(f"Bearer {SECRET}") // 2]
        assert told[1] == "[redacted by ghost]"
        client.send("two")
        assert client.recv(timeout=5) == "two"


def test_a_beginning_of_a_secret_over_messages_passes_as_it_is(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with opened(proxy, session, up) as client:
        for length in (1, 9, len(SECRET) - 2):
            for letter in (SECRET[length], "~"):
                for text in (SECRET[:length], letter):
                    client.send(text)
                    assert client.recv(timeout=5) == text


def test_a_message_with_a_secret_of_ours_ends_the_websocket_before_it_leaves(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with opened(proxy, session, up) as client:
        client.send("one")
        client.recv(timeout=5)
        client.send(f"my key is {SECRET}")
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["ended"], outcome.fields["error"]) == ("aborted", "credential.leaked")
    assert up.body_bytes == len("one")


def test_what_came_behind_a_leak_in_the_same_breath_does_not_go_on(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    heard: SimpleQueue[list[Event]] = SimpleQueue()
    up.route("/frames", lambda exchange: heard.put(taken(exchange).rest()))
    with offered(proxy, session, up) as agent:
        texts = ("one", f"my key is {SECRET}", "the rest of it")
        agent.send(*map(TextMessage, texts))
        told = heard.get(timeout=5)
    assert [each.data for each in told if isinstance(each, TextMessage)] == ["one"]


def test_our_own_token_in_messages_arrives_as_a_mark(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    def tell(exchange: Exchange) -> None:
        token = (exchange.record.header("x-ghost-token") or b"").decode()
        side = taken(exchange)
        side.send(TextMessage(token), TextMessage(token[:40]), TextMessage(token[40:]))
        side.next()

    up.route("/frames", tell)
    with offered(proxy, session, up) as agent:
        told = [getattr(agent.next(), "data", "") for _ in range(3)]
    assert told[0] == told[2] == "[redacted by ghost]"
    assert len(told[1]) == 40


@pytest.mark.parametrize(
    "extension",
    [
        "x-own",
        "permessage-deflate, x-own",
        "permessage-deflate, permessage-deflate",
        "permessage-deflate; server_max_window_bits=999",
        "permessage-deflate; server_max_window_bits=x",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; client_max_window_bits=0",
        "Permessage-Deflate",
    ],
)
def test_an_extension_that_cannot_be_undone_is_refused(
    extension: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/frames", lambda each: taken(each, f"Sec-WebSocket-Extensions: {extension}").rest())
    with asked(proxy, session, up, ("Sec-WebSocket-Extensions", extension)) as (_, head):
        assert head.status == 502
    assert proxy.last(session).fields["error"] == "reply.upgrade"


@pytest.mark.parametrize(
    "parameters", ["", "; server_no_context_takeover", " ;client_max_window_bits = 10"]
)
def test_messages_are_read_however_they_are_compressed(
    parameters: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    line = f"permessage-deflate{parameters}"

    def tell(exchange: Exchange) -> None:
        side = taken(exchange, f"Sec-WebSocket-Extensions: {line}")
        deflate = PerMessageDeflate()
        deflate.finalize(line)
        side.state = Connection(ConnectionType.SERVER, [deflate])
        side.send(TextMessage(f"it is {SECRET}"))
        side.next()

    up.route("/frames", tell)
    with asked(proxy, session, up, ("Sec-WebSocket-Extensions", line)) as (tunnel, head):
        assert head.status == 101
        deflate = PerMessageDeflate()
        deflate.finalize(line)
        state = Connection(ConnectionType.CLIENT, [deflate])
        side = Side(state, tunnel.send, lambda: received(tunnel))
        assert getattr(side.next(), "data", "") == "it is [redacted by ghost]"


@pytest.mark.parametrize("leaves", ["the upstream", "the agent"])
def test_a_post_hook_hears_of_a_websocket_at_its_end(
    leaves: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_post.sh", f"#!/bin/sh\ncat >/dev/null\necho '{STOP}'\n")

    def talk(exchange: Exchange) -> None:
        side = taken(exchange)
        side.send(TextMessage("what the hook must hear of"))
        if leaves == "the upstream":
            side.send(CloseConnection(code=1000))
        side.rest()

    up.route("/frames", talk)
    with offered(proxy, session, up) as agent:
        agent.next()
        if leaves == "the upstream":
            agent.next()
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert outcome.fields["flags"] == ["flagged"]
    assert "session.quarantined" in proxy.types(session)


def test_a_switch_of_protocols_that_nobody_asked_for_is_refused(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/switch", lambda each: each.reply(101, b"", [("Upgrade", "other")]))
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/switch", {"Host": up.authority}, b"{}")
        assert tunnel.head().status == 502
    assert proxy.last(session).fields["error"] == "reply.upgrade"


def test_a_session_that_is_over_gets_no_further_message(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with opened(proxy, session, up) as client:
        client.send("one")
        client.recv(timeout=5)
        live = proxy.proxy.services.sessions.get(session.sid)
        assert live is not None
        live.expires_at_us, live.ends = 0, lambda: True
        client.send("two")
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)
    proxy.wait_for(session, 1, "action.outcome")
    assert up.body_bytes == len("one")
