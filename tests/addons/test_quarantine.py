"""Quarantine: one verdict stops a session and its children, on every connection, until they end."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ghost_addons.action import Action
from ghost_addons.quarantine import refusal
from ghost_core.errors import DeniedError, UnavailableError
from ghost_ledger.reader import Ledger
from ghost_ledger.session import quarantine
from support.agent import Answer, Tunnel, raw_connect, secure_connect
from support.agent2 import Http2Client
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, until
from support.upstream import Upstream

STOP = '#!/bin/sh\ncat >/dev/null\necho \'{"verdict":"quarantine","reason":"it looks stolen"}\'\n'


@pytest.fixture
def stopped(proxy: LiveProxy, session: LiveSession, up: Upstream) -> LiveSession:
    """A session that a pre hook has put in quarantine."""
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    assert delete(proxy, session, up).status == 403
    return session


def delete(proxy: LiveProxy, session: LiveSession, up: Upstream) -> Answer:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        return tunnel.request("DELETE", "/echo", {"Host": up.authority})


@contextmanager
def opened(proxy: LiveProxy, session: LiveSession, up: Upstream) -> Iterator[Tunnel]:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        yield tunnel


def refused_at_connect(proxy: LiveProxy, session: LiveSession, up: Upstream) -> dict[str, Any]:
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        assert tunnel.status == 403
        assert tunnel.connected is not None
        error: dict[str, Any] = json.loads(tunnel.connected.body)["error"]
    return error


def test_the_call_is_refused_and_the_session_entered_as_stopped(
    proxy: LiveProxy, stopped: LiveSession, up: Upstream
) -> None:
    assert up.requests == ()
    _, entered, denied = proxy.entries(stopped)
    assert entered.type == "session.quarantined"
    assert entered.fields["by"] == "hook:demo_api_DELETE_pre.sh"
    assert entered.fields["reason"] == "it looks stolen"
    assert (denied.type, denied.id) == ("action.denied", entered.fields["action"])
    assert denied.fields["error"] == "hook.quarantined"


def test_every_later_call_is_refused_on_other_connections_and_on_the_same(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    with opened(proxy, session, up) as tunnel:
        assert tunnel.request("DELETE", "/echo", {"Host": up.authority}).status == 403
        again = tunnel.request("GET", "/echo", {"Host": up.authority})
        assert (again.status, json.loads(again.body)["error"]["code"]) == (
            403,
            "session.quarantined",
        )
    error = refused_at_connect(proxy, session, up)
    assert error["code"] == "session.quarantined"
    assert session.sid in error["hint"]
    assert up.requests == ()
    assert proxy.last(session).type == "action.denied"


def test_the_connection_that_read_why_is_closed_a_moment_later(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    with opened(proxy, session, up) as tunnel:
        tunnel.request("DELETE", "/echo", {"Host": up.authority})
        assert tunnel.closed()


def test_running_streams_and_websockets_are_cut(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    address = f"http://{session.sid}:{session.token}@127.0.0.1:{proxy.port}"
    context = ssl.create_default_context(cafile=str(proxy.ca))
    with (
        opened(proxy, session, up) as stream,
        connect(f"wss://{up.authority}/ws", ssl=context, proxy=address, close_timeout=1) as socket,
    ):
        stream.begin("POST", "/sse?n=200&gap_ms=50", {"Host": up.authority}, b"{}")
        stream.head()
        socket.send("one")
        socket.recv(timeout=5)
        assert delete(proxy, session, up).status == 403
        assert stream.closed()
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=5)
    outcomes = proxy.wait_for(session, 2, "action.outcome")
    assert {each.fields["ended"] for each in outcomes} == {"aborted"}


def test_uploads_on_the_connection_that_is_told_why_do_not_finish(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        client = Http2Client(tunnel)
        upload = client.state.get_next_available_stream_id()
        head = [(":method", "POST"), (":scheme", "https"), (":path", "/echo")]
        client.state.send_headers(upload, [*head, (":authority", up.authority)])
        client.state.send_data(upload, b"prepared ")
        client.flush()
        proxy.wait_for(session, 1, "action.intent")
        assert client.request("DELETE", "/echo", up.authority).status == 403
        client.state.send_data(upload, b"decided", end_stream=True)
        with contextlib.suppress(OSError):
            client.flush()
        assert tunnel.closed()
    assert proxy.wait_for(session, 1, "action.outcome")[0].fields["ended"] == "aborted"
    assert not any(b"decided" in each.body for each in up.requests)


def test_a_held_reply_on_the_connection_that_is_told_why_is_withheld(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    stopped = threading.Event()

    def late(exchange: Exchange) -> None:
        stopped.wait(5)
        exchange.reply(200, b"private")

    up.route("/late", late)
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        client = Http2Client(tunnel)
        held = client.begin("POST", "/late", up.authority, body=b"{}")
        proxy.wait_for(session, 1, "action.intent")
        assert client.request("DELETE", "/echo", up.authority).status == 403
        stopped.set()
        answer = client.answer(held)
    assert (answer.status, b"private" in answer.body) == (403, False)
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["status"], outcome.fields["error"]) == ("failed", "session.quarantined")


def test_a_post_hook_withholds_the_reply_and_stops_the_session(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_post.sh", STOP)
    with opened(proxy, session, up) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b'{"private":1}')
    assert answer.status == 403
    assert b"private" not in answer.body
    assert proxy.types(session) == [
        "session.spawn",
        "action.intent",
        "session.quarantined",
        "action.outcome",
    ]
    assert refused_at_connect(proxy, session, up)["code"] == "session.quarantined"


def test_a_stream_that_passed_still_stops_the_session(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_post.sh", STOP)
    with opened(proxy, session, up) as tunnel:
        answer = tunnel.request("POST", "/sse?n=2&gap_ms=1", {"Host": up.authority}, b"{}")
        assert answer.status == 200
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert "flagged" in str(outcome.fields["flags"])
    assert refused_at_connect(proxy, session, up)["code"] == "session.quarantined"


def test_children_are_stopped_with_their_parent(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    child = proxy.spawn("demo_api", ttl_seconds=20, parent=session.sid)
    late = proxy.spawn("demo_api", ttl_seconds=20, parent=session.sid)
    grandchild = proxy.spawn("demo_api", ttl_seconds=10, parent=late.sid)
    other = proxy.spawn("demo_api")
    with opened(proxy, child, up) as tunnel, opened(proxy, other, up) as free:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
        delete(proxy, session, up)
        assert tunnel.closed()
        assert free.request("GET", "/echo", {"Host": up.authority}).status == 200
    for each in (child, late, grandchild):
        assert session.sid in refused_at_connect(proxy, each, up)["message"]
    assert "session.quarantined" not in proxy.types(child)


def test_a_session_in_quarantine_has_no_new_children(
    proxy: LiveProxy, stopped: LiveSession
) -> None:
    with pytest.raises(DeniedError) as caught:
        proxy.spawn("demo_api", ttl_seconds=10, parent=stopped.sid)
    assert caught.value.code == "session.quarantined"


def test_a_parent_that_is_stopped_elsewhere_stops_its_children_here(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = proxy.spawn("demo_api", ttl_seconds=20, parent=session.sid)
    found = quarantine.source

    def elsewhere(ledger: Ledger, row: Any) -> str:
        return session.sid if row.parent == session.sid else found(ledger, row)

    with opened(proxy, child, up) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
        monkeypatch.setattr(quarantine, "source", elsewhere)
        assert tunnel.closed()
    assert refused_at_connect(proxy, child, up)["code"] == "session.quarantined"


def test_the_next_owner_refuses_as_well(
    proxy: LiveProxy, stopped: LiveSession, up: Upstream
) -> None:
    proxy.stop()
    again = LiveProxy(proxy.home, proxy.clock)
    again.start()
    try:
        assert refused_at_connect(again, stopped, up)["code"] == "session.quarantined"
        assert again.evaporate(stopped)["status"] == "evaporated"
    finally:
        again.stop()


def test_act_is_told_too(proxy: LiveProxy, stopped: LiveSession) -> None:
    async def work() -> dict[str, object]:
        request: dict[str, object] = {"tool": "demo_api", "action": "POST /echo"}
        return await proxy.proxy.act(proxy.proxy.admit(stopped.sid), request)

    document: Any = proxy.do(work())
    assert document["status"] == "denied"
    assert document["error"]["code"] == "session.quarantined"
    assert document["action_id"] == proxy.last(stopped).id


def test_what_the_ledger_cannot_take_is_refused_now_and_entered_later(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy.home.hook("demo_api_DELETE_pre.sh", STOP)
    recorder = type(proxy.proxy.services.recorder)
    enter = recorder.enter

    def full(self: Any, *drafts: Any) -> Any:
        if drafts[0].type == "session.quarantined":
            raise UnavailableError("full", code="ledger.unwritable")
        return enter(self, *drafts)

    with monkeypatch.context() as patch:
        patch.setattr(recorder, "enter", full)
        assert delete(proxy, session, up).status == 503
        assert refused_at_connect(proxy, session, up)["code"] == "session.quarantined"
        assert "session.quarantined" not in proxy.types(session)
    until(lambda: "session.quarantined" in proxy.types(session))
    assert up.requests == ()


def test_a_session_that_nobody_stopped_is_not_refused(action_of: Callable[..., Action]) -> None:
    assert refusal(action_of().session) is None
