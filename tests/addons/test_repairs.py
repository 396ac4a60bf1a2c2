"""What the engine does not do right for us: trailers in HTTP/1, bodies of refused requests."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from h2.events import Event, TrailersReceived
from mitmproxy.proxy.layers.http import Http1Client, HttpStream

from ghost_addons import heads, holding, joined, repairs
from ghost_core.errors import FailedError
from support.agent import secure_connect
from support.agent2 import Http2Client
from support.certs import Certs
from support.exchange import Exchange
from support.home import SECRET
from support.http1 import Http1Exchange
from support.http2 import Http2Exchange
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

CHUNKED = b"2\r\n{}\r\n0\r\nX-Api-Key: smuggled\r\nX-Sum: 1\r\n\r\n"


class Attentive(Http2Client):
    """A client that keeps what comes behind the body."""

    trailers: tuple[tuple[bytes, bytes], ...] = ()

    def _see(self, event: Event) -> None:
        if isinstance(event, TrailersReceived):
            self.trailers = tuple(
                (bytes(name), bytes(value)) for name, value in event.headers or ()
            )
        super()._see(event)


def chunked_with_trailers(exchange: Exchange) -> None:
    assert isinstance(exchange, Http1Exchange)
    exchange.start(200, [("Trailer", "X-Sum")])
    exchange.send(b"body")
    exchange.raw(b"0\r\nX-Sum: 1\r\n\r\n")


def with_trailers(exchange: Exchange) -> None:
    """Answer over HTTP/2 with a status behind the body, as gRPC does."""
    assert isinstance(exchange, Http2Exchange)
    length = 4 if exchange.record.query("held") else None
    exchange.start(
        200, [("content-type", "text/plain" if length else "application/grpc")], length=length
    )
    exchange.send(b"body")
    server, stream = exchange._server, exchange._stream  # h2 has the trailers
    with server.turn:
        trailers = [("grpc-status", "0"), ("grpc-message", f"Bearer {SECRET}")]
        server.state.send_headers(stream, trailers, end_stream=True)
        server.flush()


def test_a_chunked_request_with_trailers_goes_on_without_them(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        headers = {"Host": up.authority, "Transfer-Encoding": "chunked", "Trailer": "X-Sum"}
        tunnel.begin("POST", "/status/200", headers)
        tunnel.send(CHUNKED)
        assert tunnel.answer().status == 200
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
    assert up.requests[0].body == b"{}"


def test_a_chunked_request_whose_line_does_not_end_is_cut(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/echo", {"Host": up.authority, "Transfer-Encoding": "chunked"})
        tunnel.send(b"2\r\n{}\r\n2;x=" + b"x" * heads.HEAD_BYTES)
        assert tunnel.closed()
    assert not any(each.complete for each in up.requests)
    assert proxy.wait_for(session, 1, "action.outcome")[-1].fields["ended"] == "aborted"


def test_a_chunked_reply_with_trailers_arrives_without_them(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/trailers", chunked_with_trailers)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/trailers", {"Host": up.authority}, b"{}")
        assert (answer.status, answer.body) == (200, b"body")
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
    assert proxy.last(session).fields["ended"] == "complete"


@pytest.mark.parametrize("path", ["/trailers", "/trailers?held=1"])
def test_trailers_of_an_http_2_reply_arrive_scrubbed(
    path: str, tmp_path: Path, certs: Certs
) -> None:
    with Upstream(certs, alpn=("h2",)) as up, live_proxy(tmp_path, certs, up) as live:
        up.route("/trailers", with_trailers)
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            client = Attentive(tunnel)
            answer = client.request("POST", path, up.authority, body=b"{}")
        assert live.last(session).fields["scrubbed"] == 1
    assert (answer.status, answer.body) == (200, b"body")
    assert client.trailers == (
        (b"grpc-status", b"0"),
        (b"grpc-message", b"Bearer [redacted by ghost]"),
    )


def test_trailers_of_an_http_2_request_do_not_go_on(tmp_path: Path, certs: Certs) -> None:
    with Upstream(certs, alpn=("http/1.1",)) as up, live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            client = Http2Client(tunnel)
            state = client.state
            stream = state.get_next_available_stream_id()
            pseudo = [(":method", "POST"), (":scheme", "https"), (":authority", up.authority)]
            state.send_headers(stream, [*pseudo, (":path", "/echo"), ("content-length", "2")])
            state.send_data(stream, b"{}")
            state.send_headers(stream, [("x-api-key", "smuggled")], end_stream=True)
            client.flush()
            assert client.answer(stream).status == 200
    assert up.requests[0].body == b"{}"
    assert b"smuggled" not in up.requests[0].head


def test_what_a_refused_request_still_sends_is_not_kept(
    tmp_path: Path, certs: Certs, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    repairs.install()
    consume = HttpStream.state_consume_request_body

    @functools.wraps(consume)  # with the mark that it is wrapped already
    def watched(stream: HttpStream, event: object):  # type: ignore[no-untyped-def]
        yield from consume(stream, event)
        kept.append(len(stream.request_body_buf))

    monkeypatch.setattr(HttpStream, "state_consume_request_body", watched)
    with live_proxy(tmp_path, certs, up) as live:
        session = live.spawn(f"GET {up.url}/**")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"x" * 3_000_000)
    assert answer.status == 403
    assert len(kept) > 1
    assert max(kept) == 0
    assert up.connections == 0


def test_a_body_that_comes_although_it_was_not_asked_for_breaks_nothing(
    proxy: LiveProxy, up: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    session = proxy.spawn(f"GET {up.url}/**")
    lines = f"Host: {up.authority}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(f"POST /echo HTTP/1.1\r\n{lines}{{}}GET /echo".encode())
        assert tunnel.answer().status == 403
        assert tunnel.closed()
    assert "crashed" not in caplog.text
    assert proxy.last(session).type == "action.denied"
    assert up.connections == 0


def test_a_body_of_unknown_length_is_no_further_request_to_an_older_upstream(
    tmp_path: Path, certs: Certs
) -> None:
    hidden = b"DELETE /echo HTTP/1.1\r\nHost: x\r\n\r\n"
    with Upstream(certs, alpn=("http/1.1",)) as up, live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            client = Http2Client(tunnel)
            assert client.request("POST", "/echo", up.authority, body=hidden).status == 200
            assert client.request("GET", "/echo", up.authority).status == 200
    assert [(each.method, each.body) for each in up.requests] == [(b"POST", hidden), (b"GET", b"")]


def test_an_empty_frame_does_not_end_a_body_that_goes_on(tmp_path: Path, certs: Certs) -> None:
    with Upstream(certs) as up, live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            client = Http2Client(tunnel)
            stream = client.state.get_next_available_stream_id()
            pseudo = [(":method", "POST"), (":scheme", "https"), (":authority", up.authority)]
            client.state.send_headers(stream, [*pseudo, (":path", "/echo")])
            for piece in (b"", b"{", b"", b"}", b""):
                client.state.send_data(stream, piece)
            client.state.end_stream(stream)
            client.flush()
            assert client.answer(stream).status == 200
    assert [(each.body, each.complete) for each in up.requests] == [(b"{}", True)]


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_a_body_that_a_read_does_not_announce_is_held_up_to_a_limit(
    tmp_path: Path, certs: Certs, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(holding, "UNKNOWN_BYTES", 8_000)
    with Upstream(certs) as up, live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            client = Http2Client(tunnel)
            assert client.request(method, "/echo", up.authority, body=bytes(8_001)).status == 413
            assert client.request(method, "/echo", up.authority, body=bytes(8_000)).status == 200
        denied = live.entries(session)[1]
        assert (denied.type, denied.fields["code"]) == ("action.denied", 413)
    assert len(up.requests) == 1


def test_installing_twice_mends_once() -> None:
    repairs.install()
    joined.install()
    names = "state_consume_request_body", "state_wait_for_request_headers"
    before = [getattr(HttpStream, name) for name in names], Http1Client.send
    repairs.install()
    joined.install()
    assert ([getattr(HttpStream, name) for name in names], Http1Client.send) == before


@pytest.mark.parametrize("part", ["state_consume_request_body", "state_wait_for_request_headers"])
def test_an_engine_without_the_parts_is_refused(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(HttpStream, part)
    with pytest.raises(FailedError) as caught:
        repairs.install()
    assert caught.value.code == "proxy.engine"
