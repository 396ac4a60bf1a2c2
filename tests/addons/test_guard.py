"""Whatever fails in a handler, nothing reaches the upstream and the ledger says so."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mitmproxy import connection, flow, http
from mitmproxy.proxy import server_hooks
from mitmproxy.test import tflow
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from ghost_addons.guard import Guard
from support.agent import Tunnel, authorization, raw_connect, secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.upstream import Upstream

BROKEN = {
    "http_connect": ("ghost_addons.tunnels.open_tunnel", 500),
    "requestheaders": ("ghost_addons.judging.judge", 500),
    "request": ("ghost_addons.admission.admit", 500),
}


class Surprise(Exception):  # noqa: N818
    """Something nobody expected."""


def explode(*_: object, **__: object) -> None:
    """Fail as an unknown mistake would."""
    raise Surprise("sk_live_51QtestOnlyReal8841")


@pytest.mark.parametrize("handler", BROKEN)
def test_a_failing_handler_sends_nothing_and_enters_a_denial(
    handler: str,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BROKEN[handler][0], explode)
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        if handler == "http_connect":
            answer = tunnel.connected
        else:
            tunnel.tls(sni="localhost", ca=proxy.ca)
            answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert answer is not None
    assert answer.status == BROKEN[handler][1]
    assert b"guard.failed" in answer.body
    assert b"sk_live" not in answer.body
    assert up.connections == 0
    sid = session if handler != "http_connect" else "system"
    denial = proxy.wait_for(sid, 1, "action.denied")[-1]
    assert denial.fields["error"] == "guard.failed"


@pytest.mark.parametrize(
    "broken", ["ghost_addons.delivery.open_reply", "ghost_addons.delivery.finish_reply"]
)
def test_a_handler_that_fails_on_the_reply_withholds_it(
    broken: str,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broken, explode)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b'{"a":1}')
    assert answer.status == 500
    assert b'"a"' not in answer.body
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["status"] == "failed"
    assert outcome.fields["error"] == "guard.failed"
    assert "withheld" in outcome.fields["flags"]


def test_an_upstream_is_dialled_only_for_an_admitted_call(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca):
        pass
    assert up.connections == 0


def test_bytes_that_are_not_http_are_not_relayed(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        tunnel.send(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        tunnel.closed()
    assert up.connections == 0


def test_a_malformed_request_is_refused_and_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(
            b"POST /echo HTTP/1.1\r\nHost: " + up.authority.encode() + b"\r\n"
            b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        assert tunnel.answer().status == 400
    assert up.requests == ()
    assert proxy.wait_for(session, 1, "action.denied")[-1].fields["code"] == 400


def opened(proxy: LiveProxy, session: LiveSession, up: Upstream) -> ClientConnection:
    """Open a websocket through the proxy."""
    return connect(
        f"wss://{up.authority}/ws",
        ssl=ssl.create_default_context(cafile=str(proxy.ca)),
        proxy=f"http://{session.sid}:{session.token}@127.0.0.1:{proxy.port}",
        open_timeout=5,
        close_timeout=2,
    )


def test_a_failing_error_handler_still_leaves_a_failed_outcome(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_addons.delivery.settle_failed", explode)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/close", {"Host": up.authority}, b"{}")
    assert answer.status == 502
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["status"], outcome.fields["error"]) == ("failed", "guard.failed")


def test_a_message_that_the_guard_fails_on_reaches_nobody(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_addons.websocket.relay", explode)
    with opened(proxy, session, up) as client:
        client.send("unjudged")
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["status"], outcome.fields["error"]) == ("failed", "guard.failed")
    assert up.body_bytes == 0


def test_a_websocket_whose_end_the_guard_fails_on_has_a_failed_outcome(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_addons.delivery.settle_websocket", explode)
    with opened(proxy, session, up) as client:
        client.send("one")
        client.recv(timeout=5)
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["status"], outcome.fields["error"]) == ("failed", "guard.failed")


def test_nothing_is_dialled_when_the_question_whether_to_dial_fails(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Guard, "_dialled", explode)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 502
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert outcome.fields["status"] == "failed"
    assert up.connections == 0


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_call_that_fails_after_its_intent_is_settled_and_not_sent(
    method: str,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ghost_addons.inject.put", explode)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request(method, "/echo", {"Host": up.authority}).status == 500
    assert up.connections == 0
    assert not proxy.proxy.engine.guard.busy
    last = proxy.last(session)
    if method == "POST":
        assert (last.type, last.fields["status"]) == ("action.outcome", "failed")
        assert (last.fields["sent"], "flags" in last.fields) == (0, False)
    else:
        assert last.type == "action.denied"


def test_a_cancelled_judgement_is_a_refusal(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr("ghost_addons.judging.judge", cancel)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert (answer.status, b"guard.cancelled" in answer.body) == (500, True)
    assert up.connections == 0


def test_without_a_ledger_nothing_is_sent(hasty: tuple[LiveProxy, Any], up: Upstream) -> None:
    proxy, lock = hasty
    session = proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        lock.take()
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
        assert (answer.status, b"database.locked" in answer.body) == (503, True)
        assert up.connections == 0
        lock.release()
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
    kept = [each for each in proxy.types(session) if each != "action.denied"]
    assert kept == ["session.spawn", "action.intent", "action.outcome"]


def test_a_refusal_that_cannot_be_entered_is_answered_503(
    hasty: tuple[LiveProxy, Any], up: Upstream
) -> None:
    proxy, lock = hasty
    session = proxy.spawn(f"GET {up.url}/**")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        lock.take()
        assert tunnel.request("DELETE", "/echo", {"Host": up.authority}).status == 503
    assert up.connections == 0


def test_an_answer_whose_outcome_cannot_be_entered_is_withheld_and_settled_at_the_end(
    hasty: tuple[LiveProxy, Any], up: Upstream
) -> None:
    proxy, lock = hasty

    def locking(exchange: Exchange) -> None:
        lock.take()
        exchange.reply(200, b"the answer")

    up.route("/locking", locking)
    session = proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/locking", {"Host": up.authority}, b"{}")
    assert answer.status == 503
    assert b"the answer" not in answer.body
    assert proxy.types(session) == ["session.spawn", "action.intent"]
    lock.release()
    proxy.evaporate(session)
    outcome = proxy.entries(session)[2]
    assert (outcome.type, outcome.fields["status"]) == ("action.outcome", "executed")
    assert (outcome.fields["ended"], outcome.fields["error"]) == ("aborted", "session.ended")
    assert "withheld" in outcome.fields["flags"]


def test_a_streamed_answer_whose_outcome_cannot_be_entered_breaks_off(
    hasty: tuple[LiveProxy, Any], up: Upstream
) -> None:
    proxy, lock = hasty

    def locking(exchange: Exchange) -> None:
        lock.take()
        exchange.start(200)
        exchange.send(b"piece")
        exchange.finish()

    up.route("/locking", locking)
    session = proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/locking", {"Host": up.authority}, b"{}")
        with pytest.raises(EOFError):
            list(tunnel.chunks(tunnel.head()))


def dial(
    guard: Guard, client: connection.Client, address: tuple[str, int], *, error: str | None = None
) -> str | None:
    """Ask whether an address may be dialled for a client; the reason if not."""
    server = connection.Server(address=address, error=error)
    guard.server_connect(server_hooks.ServerConnectionHookData(server=server, client=client))
    return server.error


@pytest.mark.parametrize("spelled", ["localhost.", "LOCALHOST"])
def test_the_upstream_is_asked_for_by_the_name_that_was_judged(
    spelled: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        tunnel.tls(sni=spelled)
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
    assert up.requests[0].sni == "localhost"


def test_nothing_is_dialled_for_a_client_that_nobody_knows(proxy: LiveProxy) -> None:
    assert dial(proxy.proxy.engine.guard, tflow.tclient_conn(), ("127.0.0.1", 80)) is not None


def test_what_the_engine_itself_does_not_dial_stays_refused(proxy: LiveProxy) -> None:
    guard = proxy.proxy.engine.guard
    assert dial(guard, tflow.tclient_conn(), ("127.0.0.1", 80), error="a loop") == "a loop"


@pytest.mark.parametrize("path", ["/switch", "/close", "/echo", "/sse?n=1"])
def test_after_a_call_its_connection_may_not_dial_any_more(
    path: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/switch", lambda each: each.reply(101, b"", [("Upgrade", "other")]))
    guard = proxy.proxy.engine.guard
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", path, {"Host": up.authority}, b"{}")
        list(tunnel.chunks(tunnel.head()))
        peers = guard._peers.values()  # seen from nowhere else; empty once the client is gone
        assert all(peer.admitted == set() for peer in peers)


def test_a_connection_that_is_gone_leaves_nothing_behind(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/sse?n=50&gap_ms=100", {"Host": up.authority}, b"{}")
        tunnel.head()
    proxy.wait_for(session, 1, "action.outcome")
    proxy.evaporate(session)
    assert proxy.proxy.engine.guard._peers == {}  # a leak shows nowhere else


Handle = Callable[[Guard, http.HTTPFlow], Awaitable[None]]


@pytest.mark.parametrize("handler", [Guard.request, Guard.requestheaders])
def test_a_request_that_nobody_judged_is_refused(handler: Handle, proxy: LiveProxy) -> None:
    unjudged = tflow.tflow()
    proxy.do(handler(proxy.proxy.engine.guard, unjudged))  # type: ignore[arg-type]
    assert unjudged.response is not None
    assert unjudged.response.status_code in (407, 500)


def test_a_message_of_a_websocket_that_nobody_admitted_is_dropped(proxy: LiveProxy) -> None:
    stray = tflow.twebsocketflow()
    assert stray.websocket is not None
    proxy.do(proxy.proxy.engine.guard.websocket_message(stray))
    assert stray.websocket.messages[-1].dropped
    proxy.do(proxy.proxy.engine.guard.websocket_end(stray))


def test_raw_tcp_and_udp_are_ended(proxy: LiveProxy) -> None:
    guard, tcp, udp = proxy.proxy.engine.guard, tflow.ttcpflow(), tflow.tudpflow()
    tcp.live = udp.live = True
    guard.tcp_start(tcp)
    guard.udp_start(udp)
    for each in (tcp, udp):
        assert each.error is not None
        assert each.error.msg == flow.Error.KILLED_MESSAGE


def test_a_client_that_leaves_while_a_gate_thinks_is_not_sent_for(
    proxy: LiveProxy, session: LiveSession, up: Upstream, tmp_path: Path
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    proxy.home.hook(
        "demo_api_pre.sh",
        f"#!/bin/sh\ncat >/dev/null\ntouch {begun}\n"
        f"n=0; while [ ! -e {go} ] && [ $n -lt 250 ]; do sleep 0.02; n=$((n+1)); done\n",
    )
    guard = proxy.proxy.engine.guard
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/echo", {"Host": up.authority}, b"{}")
        until(begun.exists)
    until(lambda: not guard._peers)  # the engine has seen it go
    go.touch()
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert (outcome.fields["status"], outcome.fields["ended"]) == ("failed", "aborted")
    assert up.connections == 0
    assert not guard._peers


def test_a_streamed_upload_is_admitted_before_its_first_byte(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "Content-Length": "2000000"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/status/200", headers)
        intent = proxy.wait_for(session, 1, "action.intent")[0]
        tunnel.send(b"x" * 2_000_000)
        assert tunnel.answer().status == 200
    assert intent.fields["body"] == "streamed"
    assert len(up.requests[0].body) == 2_000_000


@pytest.mark.parametrize("path", ["/status/200", "/status/204", "/sse?n=1"])
def test_a_client_that_asks_for_the_end_of_its_connection_gets_it(
    path: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "Connection": "close"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", path, {"Host": up.authority}).header("connection") is None
        answer = tunnel.request("GET", path, headers)
        assert answer.header("connection") == b"close"
        assert tunnel.closed()


def test_a_tunnel_to_a_refused_host_may_dial_nothing(
    proxy: LiveProxy, session: LiveSession
) -> None:
    with secure_connect(proxy.port, "elsewhere.test:443", session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/", {"Host": "elsewhere.test"}).status == 403
        (peer,) = proxy.proxy.engine.guard._peers.values()  # seen from nowhere else
        assert peer.tunnel is not None
        assert (peer.tunnel.address, peer.admitted) == ("", set())


def test_a_plain_request_is_dialled_only_where_a_scope_spells_it(
    tmp_path: Path, certs: Certs
) -> None:
    with Upstream() as plain:
        allowed = {"allow_private": [plain.authority]}
        with live_proxy(tmp_path, certs, proxy=allowed) as live:
            url = f"http://{plain.authority}/echo"
            for scope, status in ((f"GET {url}", 200), ("GET https://api.test/**", 403)):
                session = live.spawn(scope)
                named = dict(authorization(session.auth))
                with Tunnel(live.port) as client:
                    answer = client.request("GET", url, {"Host": plain.authority, **named})
                assert answer.status == status
        assert len(plain.requests) == plain.connections == 1
