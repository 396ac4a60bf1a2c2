"""Heads that another server may read in another way: refused, entered, and seen by nobody."""

from __future__ import annotations

import pytest

from support.agent import secure_connect
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

POST = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "line",
    [
        b"X-A: a\x0bX-B: b",
        b"X-A: a\x01b",
        b"X-A: a\x1fb",
        b"X-A: a\x7fb",
        b"Content_Length: 2",
        b"Transfer_Encoding: chunked",
        b"Content_Encoding: gzip",
        b"Content.Encoding: gzip",
        b"Transfer-Encoding: gzip, chunked",
        b"Expect: nothing",
        b"Expect: 100-continue, nothing",
    ],
)
def test_a_line_that_others_read_in_another_way_is_refused_and_entered(
    line: bytes, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    first = f"GET /echo HTTP/1.1\r\nHost: {up.authority}\r\nConnection: close\r\n".encode()
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(first + line + b"\r\n\r\n" + b"0\r\n\r\n" * (b"chunked" in line))
        assert b"HTTP/1.1 400 " in tunnel.reader.until(b"request.malformed")
    assert proxy.last(session).fields["error"] == "request.malformed"
    assert up.connections == 0


def test_more_lines_than_anybody_sends_are_refused(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    lines = [("Host", up.authority), *((f"X-{number}", "") for number in range(1000))]
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/echo", lines).status == 400
    assert proxy.last(session).fields["error"] == "request.malformed"
    assert up.connections == 0


def test_a_length_that_overflows_elsewhere_is_refused_and_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "Content-Length": "9999999999999999999"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/echo", headers)
        (denied,) = proxy.wait_for(session, 1, "action.denied")
    assert denied.fields["error"] == "request.malformed"
    assert up.connections == 0


@pytest.mark.parametrize("version", ["HTTP/2.0", "HTTP/3.0", "HTTP/1.2", "HTTP/0.9"])
def test_a_version_that_the_connection_does_not_speak_is_refused(
    version: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(f"GET /echo {version}\r\nHost: {up.authority}\r\n\r\n".encode())
        assert tunnel.answer().status == 400
    assert proxy.last(session).fields["error"] == "request.malformed"
    assert up.connections == 0


@pytest.mark.parametrize(
    "line",
    [
        b"X-A: 1\rX-HTTP-Method-Override: DELETE",
        b"X-A: 1\x002",
        b"X-A: 1\r\n folded",
    ],
)
def test_a_header_value_with_two_readings_reaches_nobody(
    line: bytes, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        host = up.authority.encode()
        tunnel.send(b"GET /echo HTTP/1.1\r\nHost: " + host + b"\r\n" + line + b"\r\n\r\n")
        assert tunnel.answer().status == 400
    assert up.requests == ()


@pytest.mark.parametrize("method", ["post", "Post", "PO\u017fT"])
def test_a_method_is_sent_as_it_was_judged_or_not_at_all(
    method: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        head = f"{method} /echo HTTP/1.1\r\nHost: {up.authority}\r\nContent-Length: 0\r\n\r\n"
        tunnel.send(head.encode())
        assert tunnel.answer().status == 400
    assert up.requests == ()
