"""Heads of HTTP/1 messages: limited in length, and read on to the reply that is the answer."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from mitmproxy.proxy.layers.http._http1 import Http1Client, Http1Server

from ghost_addons import heads
from ghost_core.errors import FailedError
from support.agent import Answer, Tunnel, secure_connect
from support.agent2 import Http2Client
from support.certs import Certs
from support.exchange import Exchange
from support.home import SECRET
from support.http1 import Http1Exchange
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

ENDLESS = b"x" * 65_536
SWITCH = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "AA=="}


def flooded(tunnel: Tunnel, head: bytes) -> Answer:
    """Send a head that does not end, up to the byte that is too much; return the answer."""
    left = heads.HEAD_BYTES + 1 - len(head)
    tunnel.send(head + b"x" * left)
    return tunnel.answer()


def interim(exchange: Exchange) -> None:
    """Answer with two interim replies, one in two pieces, and the final one."""
    assert isinstance(exchange, Http1Exchange)
    exchange.raw(b"HTTP/1.1 103 Early Hints\r\nLink: " + SECRET.encode())
    exchange.pause(0.05)
    exchange.raw(b"\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
    exchange.pause(0.05)
    exchange.raw(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def endless(first: bytes, exchange: Exchange) -> None:
    """Begin to answer and send on and on without an end."""
    assert isinstance(exchange, Http1Exchange)
    exchange.keep = False
    with contextlib.suppress(OSError):
        exchange.raw(first)
        for _ in range(1000):
            exchange.raw(ENDLESS)
    exchange.abort()


def switched(exchange: Exchange) -> None:
    """Switch to the protocol of the query, and speak it at once."""
    assert isinstance(exchange, Http1Exchange)
    name = exchange.record.query("to").encode()
    exchange.raw(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + name)
    exchange.raw(b"\r\n\r\nraw " + SECRET.encode())


def test_a_client_without_credentials_cannot_send_a_head_that_does_not_end(
    proxy: LiveProxy,
) -> None:
    with Tunnel(proxy.port) as tunnel:
        answer = flooded(tunnel, b"CONNECT localhost:443 HTTP/1.1\r\nX-Pad: ")
        assert tunnel.closed()
    assert answer.status == 431
    assert b"request.head_too_large" in answer.body
    assert b"mitmproxy" not in answer.head + answer.body


def test_nor_can_an_agent_inside_its_tunnel(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = flooded(tunnel, b"GET /echo HTTP/1.1\r\nX-Pad: ")
        assert tunnel.closed()
    assert answer.status == 431
    assert up.connections == 0


def test_a_long_head_that_ends_passes(proxy: LiveProxy, session: LiveSession, up: Upstream) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        headers = {"Host": up.authority, "X-Pad": "x" * 200_000}
        assert tunnel.request("GET", "/status/200", headers).status == 200


def test_empty_lines_before_a_request_are_passed_over(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    head = f"GET /echo HTTP/1.1\r\nHost: {up.authority}\r\n\r\n".encode()
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        for before in (b"\r\n", b"\n", b"\r\n\r\n"):
            tunnel.send(before + head)  # in one piece: nothing comes later that would wake a reader
            assert tunnel.answer().status == 200


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\nX-Pad: ",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2;x=",
    ],
)
def test_an_upstream_whose_head_does_not_end_is_a_failed_call(
    first: bytes, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/endless", lambda exchange: endless(first, exchange))
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/endless", {"Host": up.authority}, b"{}")
        assert tunnel.closed()
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["ended"] == "aborted"


def test_its_agent_reads_our_page(proxy: LiveProxy, session: LiveSession, up: Upstream) -> None:
    up.route("/endless", lambda exchange: endless(b"HTTP/1.1 200 OK\r\nX: ", exchange))
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/endless", {"Host": up.authority}, b"{}")
    assert answer.status == 502
    assert b"upstream.failed" in answer.body


def test_a_client_that_sends_on_while_it_waits_is_left(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/slow?ms=4000", {"Host": up.authority}, b"{}")
        up.wait_requests(1)
        with contextlib.suppress(OSError):
            for _ in range(40):
                tunnel.send(ENDLESS)
        assert tunnel.closed()
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["error"] == "client.gone"


def test_interim_replies_are_passed_over(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/interim", interim)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/interim", {"Host": up.authority}, b"{}")
        assert (answer.status, answer.body) == (200, b"ok")
        assert SECRET.encode() not in answer.head
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
    assert proxy.last(session).fields["http_status"] == 200
    assert up.connections == 1


def test_interim_replies_over_http_2_are_passed_over(tmp_path: Path, certs: Certs) -> None:
    def hinted(exchange: Exchange) -> None:
        exchange.start(103, [("link", SECRET)])
        exchange.reply(200, b"ok")

    with Upstream(certs, alpn=("h2",)) as up, live_proxy(tmp_path, certs, up) as live:
        up.route("/interim", hinted)
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            answer = Http2Client(tunnel).request("POST", "/interim", up.authority, body=b"{}")
        assert (answer.status, answer.body) == (200, b"ok")
        assert live.last(session).fields["http_status"] == 200


@pytest.mark.parametrize(
    ("name", "version"), [("websocket", ""), ("websocket", "8"), ("other", "13")]
)
def test_an_upstream_that_switched_and_was_refused_is_closed(
    name: str, version: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/switch", switched)
    headers = {"Host": up.authority, **SWITCH}
    if version:
        headers["Sec-WebSocket-Version"] = version
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("GET", f"/switch?to={name}", headers)
        assert (answer.status, b"reply.upgrade" in answer.body) == (502, True)
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
    outcome = proxy.last(session).fields
    assert (outcome["status"], outcome["error"]) == ("failed", "reply.upgrade")
    live = proxy.proxy.services.sessions.get(session.sid)
    assert live is not None
    assert not live.calls


def test_installing_twice_wraps_once() -> None:
    heads.install()
    before = Http1Server.read_headers, Http1Server.wait, Http1Client.make_pipe
    heads.install()
    assert (Http1Server.read_headers, Http1Server.wait, Http1Client.make_pipe) == before


def test_an_engine_without_the_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    heads.install()
    monkeypatch.delattr(Http1Server, "read_headers")
    monkeypatch.delattr("mitmproxy.proxy.layers.http._http1.Http1Connection.read_headers")
    with pytest.raises(FailedError) as caught:
        heads.install()
    assert caught.value.code == "proxy.engine"
