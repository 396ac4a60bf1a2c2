"""The engine's own answers are JSON like ours, on both versions of HTTP."""

from __future__ import annotations

import json

import pytest
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._http2 import Http2Connection, Http2Server

from ghost_addons import pages
from ghost_core.errors import FailedError
from support.agent import secure_connect
from support.agent2 import Http2Client
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "request.malformed"),
        (413, "body.too_large"),
        (431, "request.head_too_large"),
        (502, "upstream.failed"),
        (504, "upstream.timeout"),
        (599, "proxy.error"),
    ],
)
def test_each_status_has_a_code(status: int, code: str) -> None:
    assert json.loads(pages.refusal(status).body())["error"]["code"] == code


def test_a_whole_answer_closes_the_connection() -> None:
    head, _, body = pages.answer_of(502, "10.0.0.1").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 ")
    assert b"connection: close" in head.lower()
    assert b"content-length: %d" % len(body) in head.lower()
    assert body == pages.refusal(502).body()
    assert b"10.0.0.1" not in head + body


def test_a_certificate_that_nobody_vouches_for_is_told_apart() -> None:
    said = "Certificate verify failed: unable to get local issuer certificate"
    error = json.loads(pages.answer_of(502, said).partition(b"\r\n\r\n")[2])["error"]
    assert error["code"] == "upstream.failed"
    assert error["message"] == "the upstream's certificate could not be verified"
    assert "proxy.upstream_ca" in error["hint"]
    assert pages.refusal(502, "Certificate verify failed: certificate has expired").hint == ""
    assert pages.refusal(400, said).message == pages.refusal(400).message


@pytest.mark.parametrize("alpn", ["http/1.1", "h2"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_failure_has_our_page_and_head_has_none(
    proxy: LiveProxy, session: LiveSession, up: Upstream, method: str, alpn: str
) -> None:
    up.route("/gone", lambda exchange: exchange.abort())
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=(alpn,)
    ) as tunnel:
        if alpn == "h2":
            client = Http2Client(tunnel)
            answer = client.request(method, "/gone", up.authority)
            assert client.request(method, "/status/200", up.authority).status == 200
        else:
            answer = tunnel.request(method, "/gone", {"Host": up.authority})
    assert answer.status == 502
    assert answer.header("x-ghost-reason") == b"upstream.failed"
    assert answer.header("content-type") == b"application/json"
    assert answer.header("server") is None
    assert answer.body == (b"" if method == "HEAD" else pages.refusal(502).body())


def test_a_head_request_that_is_reset_at_once_leaves_the_connection_open(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        client = Http2Client(tunnel)
        pseudo = [(":method", "HEAD"), (":scheme", "https"), (":authority", up.authority)]
        client.state.send_headers(1, [*pseudo, (":path", "/echo")], end_stream=True)
        client.state.reset_stream(1)
        client.flush()  # both in one piece
        assert client.request("GET", "/echo", up.authority).status == 200


def test_installing_twice_wraps_once() -> None:
    pages.install()
    before = dict(vars(Http2Server))
    pages.install()
    assert dict(vars(Http2Server)) == before


@pytest.mark.parametrize("part", ["_http1.make_error_response", "server.handle_h2_event"])
def test_an_engine_without_the_functions_is_refused(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    owner, _, name = part.partition(".")
    for each in (_http1,) if owner == "_http1" else (Http2Server, Http2Connection):
        monkeypatch.delattr(each, name)
    with pytest.raises(FailedError) as caught:
        pages.install()
    assert caught.value.code == "proxy.engine"
