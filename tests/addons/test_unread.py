"""What the engine's parsers refuse is entered like every other refusal."""

from __future__ import annotations

import pytest
from mitmproxy.proxy.layers.http import HttpStream
from mitmproxy.proxy.layers.http._http2 import Http2Server

from ghost_addons import heads, unread
from ghost_core.errors import FailedError
from support.agent import Tunnel, secure_connect
from support.agent2 import Http2Client, StreamResetError
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

NOWHERE = b"\x00\x00\x01\x00\x00\x00\x00\x00\x00x"
"""An HTTP/2 DATA frame for no stream, which RFC 9113 §6.1 forbids."""


def refused(found: dict[str, object]) -> tuple[object, ...]:
    return tuple(found[name] for name in ("code", "error", "stage", "rule"))


@pytest.mark.parametrize(
    "raw",
    [
        b"GET\r\n\r\n",
        b"GET /echo HTTP/1.1 more\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /echo HTTP/1.1\r\n X-A: 1\r\n\r\n",
        b"\r\nGET\r\n\r\n",
    ],
)
def test_a_head_that_is_none_is_refused_and_entered(
    raw: bytes, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(raw)
        assert tunnel.answer().status == 400
        assert tunnel.closed()
    (denied,) = proxy.wait_for(session, 1, "action.denied")
    assert refused(denied.fields) == (400, "request.malformed", "authority", "grammar")
    assert (denied.fields["host"], denied.fields["port"]) == ("localhost", up.port)
    assert up.connections == 0


def test_so_is_one_behind_a_request_that_was_served(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
        tunnel.send(b"GET\r\n\r\n")
        assert tunnel.answer().status == 400
    assert len(proxy.wait_for(session, 1, "action.denied")) == 1


def test_a_head_that_does_not_end_is_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(b"GET /echo HTTP/1.1\r\nX-Pad: ".ljust(heads.HEAD_BYTES + 1, b"x"))
        assert tunnel.answer().status == 431
    (denied,) = proxy.wait_for(session, 1, "action.denied")
    assert refused(denied.fields) == (431, "request.head_too_large", "authority", "grammar")


@pytest.mark.parametrize(("body", "entered"), [(b" 2\r\n{}\r\n0\r\n\r\n", 1), (b"2\r\n{", 0)])
def test_a_held_body_whose_chunks_are_broken_is_entered_and_one_that_is_cut_off_is_not(
    body: bytes, entered: int, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.append('[[rules]]\ndeny = { path = "/echo", when = "amount > 1000" }')
    lines = {"Host": up.authority, "Transfer-Encoding": "chunked"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/echo", {**lines, "Content-Type": "application/json"})
        tunnel.send(body)
        assert not entered or tunnel.closed()
    denied = proxy.wait_for(session, entered, "action.denied")
    assert [each.fields["error"] for each in denied] == ["request.malformed"] * entered
    assert up.connections == 0


def test_frames_that_are_no_http_2_are_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        client = Http2Client(tunnel)
        assert client.request("GET", "/echo", up.authority).status == 200
        tunnel.send(NOWHERE)
        with pytest.raises(StreamResetError) as caught:
            client.answer(client.begin("GET", "/echo", up.authority))
    assert caught.value.code == 1
    (denied,) = proxy.wait_for(session, 1, "action.denied")
    assert refused(denied.fields) == (400, "request.malformed", "authority", "grammar")


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://[/ HTTP/1.1\r\n\r\n",
    ],
)
def test_what_goes_nowhere_is_entered_by_the_system(raw: bytes, proxy: LiveProxy) -> None:
    with Tunnel(proxy.port) as tunnel:
        tunnel.send(raw)
        answer = tunnel.answer()
        assert (answer.status, answer.header("x-ghost-reason")) == (400, b"request.malformed")
        assert tunnel.closed()
    (denied,) = proxy.wait_for("system", 1, "action.denied")
    assert refused(denied.fields) == (400, "request.malformed", "authority", "grammar")


def test_a_request_whose_host_is_readable_is_judged_like_any_other(proxy: LiveProxy) -> None:
    with Tunnel(proxy.port) as tunnel:
        answer = tunnel.request("GET", "/", {"Host": "localhost:1"})
    assert (answer.status, answer.header("x-ghost-reason")) == (407, b"session.missing")


def test_installing_twice_wraps_once() -> None:
    unread.install()
    before = Http2Server.protocol_error, HttpStream.state_wait_for_request_headers
    unread.install()
    assert (Http2Server.protocol_error, HttpStream.state_wait_for_request_headers) == before


def test_an_engine_without_the_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    unread.install()
    monkeypatch.delattr(HttpStream, "state_wait_for_request_headers")
    with pytest.raises(FailedError) as caught:
        unread.install()
    assert caught.value.code == "proxy.engine"
