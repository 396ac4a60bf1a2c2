"""Websockets: judged once, relayed message by message, scrubbed, entered at their close."""

from __future__ import annotations

import ssl

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from support.agent import secure_connect
from support.home import SECRET
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream


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
