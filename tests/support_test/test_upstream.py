from __future__ import annotations

import gzip
import json
import ssl
from typing import TYPE_CHECKING

import pytest
from websockets.sync.client import connect

from support import fixtures
from support.agent import Tunnel, run_client
from support.agent2 import Http2Client
from support.certs import Certs
from support.upstream import Upstream

if TYPE_CHECKING:
    from pathlib import Path

    from support.exchange import Exchange

up = fixtures.upstream("function", names=("localhost", "api.test"), alpn=("h2", "http/1.1"))


def direct(up: Upstream, certs: Certs, alpn: str = "http/1.1", sni: str = "localhost") -> Tunnel:
    tunnel = Tunnel(up.port)
    tunnel.tls(sni=sni, ca=certs.ca, alpn=(alpn,))
    return tunnel


def test_the_upstream_records_the_bytes_of_the_head(up: Upstream, certs: Certs) -> None:
    with direct(up, certs, sni="api.test") as tunnel:
        tunnel.request("POST", "/echo?a=%2f", {"hOST": "api.test", "X-A": " two  words "}, b"hi")
    (seen,) = up.requests
    assert seen.head.startswith(b"POST /echo?a=%2f HTTP/1.1\r\nhOST: api.test\r\n")
    assert (seen.target, seen.body, seen.sni) == (b"/echo?a=%2f", b"hi", "api.test")
    assert seen.header("x-a") == b"two  words"


def test_one_connection_serves_many_requests(up: Upstream, certs: Certs) -> None:
    with direct(up, certs) as tunnel:
        for _ in range(3):
            assert tunnel.request("GET", "/bytes/70000").body.startswith(b"\x00\x01")
    assert (up.connections, len(up.requests)) == (1, 3)


def test_http2_is_served_where_it_is_negotiated(up: Upstream, certs: Certs) -> None:
    with direct(up, certs, "h2") as tunnel:
        client = Http2Client(tunnel)
        answer = client.request("POST", "/echo", up.authority, [("x-a", "1")], b"hello")
        big = client.request("GET", "/bytes/300000", up.authority)
    assert json.loads(answer.body)["body"] == "hello"
    assert (len(big.body), up.requests[0].alpn) == (300_000, "h2")


def test_events_arrive_one_by_one(up: Upstream, certs: Certs) -> None:
    with direct(up, certs) as tunnel:
        answer = tunnel.request("GET", "/sse?n=3&gap_ms=60")
    assert len(answer.chunks) == 3
    assert len(up.sent) == 3
    assert up.sent[2].at - up.sent[0].at > 0.1


def test_a_secret_comes_back_in_gzip_and_in_two_chunks(up: Upstream, certs: Certs) -> None:
    with direct(up, certs) as tunnel:
        packed = tunnel.request("GET", "/gzip-echo-header", {"Authorization": "Bearer abc"})
        split = tunnel.request("GET", "/split-secret", {"Authorization": "Bearer abc"})
    assert gzip.decompress(packed.body) == b"you sent: Bearer abc"
    assert [chunk.data for chunk in split.chunks] == [b"start Beare", b"r abc end"]


def test_an_own_route_wins(up: Upstream, certs: Certs) -> None:
    def teapot(exchange: Exchange) -> None:
        exchange.reply(418, b"short and stout")

    up.route("/echo", teapot)
    with direct(up, certs) as tunnel:
        assert tunnel.request("GET", "/echo?x=1").status == 418


def test_an_upload_that_breaks_off_is_recorded_as_incomplete(up: Upstream, certs: Certs) -> None:
    with direct(up, certs) as tunnel:
        tunnel.send(b"POST /echo HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")
        up.wait_until(lambda: up.body_bytes == 3, "three body bytes")
    (seen,) = up.wait_requests(1)
    assert (seen.complete, seen.body) == (False, b"abc")


def test_close_ends_the_connection_without_an_answer(up: Upstream, certs: Certs) -> None:
    with direct(up, certs) as tunnel, pytest.raises((EOFError, OSError)):
        tunnel.request("GET", "/close")


def test_plain_http_is_served_without_certificates() -> None:
    with Upstream() as plain, Tunnel(plain.port) as tunnel:
        assert tunnel.request("GET", "/status/503").status == 503


def test_the_websocket_echoes(up: Upstream, certs: Certs) -> None:
    context = ssl.create_default_context(cafile=certs.ca)
    with connect(f"wss://{up.authority}/ws", ssl=context, proxy=None, open_timeout=5) as socket:
        socket.send("hello")
        assert socket.recv(timeout=5) == "hello"


def test_curl_trusts_the_authority(up: Upstream, certs: Certs, tmp_path: Path) -> None:
    done = run_client(
        ["curl", "-sS", "--data-binary", "x" * 3000, f"{up.url}/echo"],
        {"CURL_CA_BUNDLE": str(certs.ca), "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert len(up.requests[0].body) == 3000
