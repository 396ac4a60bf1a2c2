"""From the upstream's first header to the outcome: cleaned, judged, entered, then released."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import pytest

from support.agent import Answer, secure_connect
from support.agent2 import Http2Client
from support.certs import Certs
from support.exchange import Exchange
from support.home import SECRET
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream


@pytest.mark.parametrize(
    "path",
    [
        "/echo-header?name=authorization",
        "/gzip-echo-header?name=authorization",
        "/split-secret",
    ],
)
def test_an_echoed_secret_arrives_as_a_mark(
    path: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", path, {"Host": up.authority}, b"{}")
    assert SECRET.encode() not in answer.body
    assert b"[redacted by ghost]" in answer.body
    assert answer.header("content-encoding") is None
    assert proxy.last(session).fields["scrubbed"] == 1


def test_a_secret_in_a_reply_header_arrives_as_a_mark(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    def leak(exchange: Exchange) -> None:
        headers = [("Set-Cookie", f"k={SECRET}"), ("Alt-Svc", 'h3=":443"'), ("Location", "/n")]
        headers.append(("X-Ghost-Reason", "scope.action"))  # no refusal of ours
        exchange.reply(302, b"", headers)

    up.route("/leak", leak)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("GET", "/leak", {"Host": up.authority})
    assert answer.status == 302
    assert SECRET.encode() not in answer.head
    assert answer.header("alt-svc") is None
    assert answer.header("x-ghost-reason") is None


def test_our_own_token_does_not_come_back(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        path = "/echo-header?name=x-ghost-token"
        answer = tunnel.request("GET", path, {"Host": up.authority})
    assert b"ghwire_" not in answer.body


def test_events_arrive_while_the_upstream_still_sends(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("GET", "/sse?n=3&gap_ms=200", {"Host": up.authority})
        head = tunnel.head()
        pieces = list(tunnel.chunks(head))
    sent = up.wait_sent(3)
    assert b"".join(piece.data for piece in pieces).count(b"data:") == 3
    assert pieces[0].at < sent[2].at


def test_an_encoding_that_cannot_be_undone_is_refused(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/odd", lambda each: each.reply(200, b"\x00odd", [("Content-Encoding", "x-odd")]))
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/odd", {"Host": up.authority}, b"{}")
    assert answer.status == 502
    assert b"odd" not in answer.body.replace(b"x-odd", b"")
    assert proxy.last(session).fields["error"] == "body.coding"


def test_under_mark_it_passes_and_the_record_says_so(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    up.route("/odd", lambda each: each.reply(200, b"\x00odd", [("Content-Encoding", "x-odd")]))
    with live_proxy(tmp_path, certs, up, proxy={"scrub": "mark"}) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("POST", "/odd", {"Host": up.authority}, b"{}")
        assert answer.body == b"\x00odd"
        assert live.last(session).fields["flags"] == ["uninspected"]


def test_an_upstream_that_breaks_off_is_a_failed_call_with_our_page(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/close", {"Host": up.authority}, b"{}")
    assert answer.status == 502
    assert b"upstream.failed" in answer.body
    assert b"mitmproxy" not in answer.head + answer.body
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert (outcome.fields["status"], outcome.fields["ended"]) == ("failed", "aborted")


def test_a_post_hook_that_refuses_withholds_the_reply(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_post.sh", "#!/bin/sh\ncat >/dev/null\nexit 1\n")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b'{"private":1}')
    assert answer.status == 403
    assert b"private" not in answer.body
    outcome = proxy.last(session)
    assert outcome.fields["flags"] == ["withheld"]
    assert outcome.fields["verdicts"][-1]["verdict"] == "deny"


def test_a_post_hook_hears_of_a_stream_that_its_reader_left_early(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    verdict = '{"verdict": "quarantine", "reason": "it says too much"}'
    proxy.home.hook("demo_api_post.sh", f"#!/bin/sh\ncat >/dev/null\necho '{verdict}'\n")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/sse?n=200&gap_ms=20", {"Host": up.authority}, b"{}")
        next(tunnel.chunks(tunnel.head()))
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["ended"], outcome.fields["flags"]) == ("aborted", ["flagged"])
    assert "session.quarantined" in proxy.types(session)


def test_a_client_that_leaves_gets_an_aborted_outcome(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/sse?n=50&gap_ms=100", {"Host": up.authority}, b"{}")
        tunnel.head()
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["ended"] == "aborted"


def test_a_stream_is_cut_when_its_session_evaporates(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/sse?n=100&gap_ms=50", {"Host": up.authority}, b"{}")
        tunnel.head()
        began = time.monotonic()
        proxy.evaporate(session, grace_seconds=4)
        assert tunnel.closed()
    assert time.monotonic() - began < 3
    assert [each for each in proxy.types(session) if each != "action.denied"] == [
        "session.spawn",
        "action.intent",
        "action.outcome",
        "session.closed",
        "session.seal",
    ]


def test_a_held_call_gets_its_grace(proxy: LiveProxy, session: LiveSession, up: Upstream) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/slow?ms=300", {"Host": up.authority}, b"{}")
        up.wait_requests(1)
        proxy.evaporate(session, grace_seconds=4)
        assert tunnel.answer().status == 200


@pytest.mark.parametrize("alpn", ["http/1.1", "h2"])
def test_both_versions_of_http_pass(alpn: str, tmp_path: Path, certs: Certs) -> None:
    with (
        Upstream(certs, alpn=("h2", "http/1.1")) as both,
        live_proxy(tmp_path, certs, both) as live,
    ):
        session = live.spawn("demo_api")
        answer = _ask(live, both, session, alpn)
        assert answer.status == 200
        assert SECRET.encode() not in answer.body
        assert both.requests[0].header("authorization") == f"Bearer {SECRET}".encode()
        assert live.types(session) == ["session.spawn", "action.intent", "action.outcome"]


def _ask(live: LiveProxy, up: Upstream, session: LiveSession, alpn: str) -> Answer:
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca, alpn=(alpn,)) as tunnel:
        if alpn == "h2":
            return Http2Client(tunnel).request("POST", "/echo", authority=up.authority, body=b"{}")
        return tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")


BODILESS = [("HEAD", 200), ("GET", 204), ("GET", 304)]


@pytest.mark.parametrize(
    "case", [(*each, alpn) for each in BODILESS for alpn in ("http/1.1", "h2")]
)
def test_a_reply_without_a_body_keeps_its_headers(
    case: tuple[str, int, str], proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    method, status, alpn = case
    headers = [("Content-Encoding", "gzip"), ("ETag", '"e"'), ("X-One", "1")]
    if status != 304:
        headers.append(("Vary", "Accept-Encoding"))

    def bare(exchange: Exchange) -> None:
        exchange.start(status, headers, length=12_345)
        exchange.finish()

    up.route("/bare", bare)
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=(alpn,)
    ) as tunnel:
        if alpn == "h2":
            answer = Http2Client(tunnel).request(method, "/bare", up.authority)
        else:
            answer = tunnel.request(method, "/bare", {"Host": up.authority})
    assert (answer.status, answer.body) == (status, b"")
    for name, value in headers:
        assert answer.header(name) == value.encode()
    if method == "HEAD":
        assert answer.header("content-length") == b"12345"


@pytest.mark.parametrize("coding", ["gzip, chunked", "gzip"])
def test_a_transfer_coding_that_hides_the_body_is_refused(
    coding: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    def answer(exchange: Exchange) -> None:
        secret = exchange.record.header("authorization") or b""
        body = gzip.compress(secret)
        if "chunked" in coding:
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        exchange.emit(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding.encode() + b"\r\n\r\n" + body
        )
        exchange.abort()

    up.route("/hidden", answer)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        reply = tunnel.request("POST", "/hidden", {"Host": up.authority}, b"{}")
    assert reply.status == 502
    assert gzip.compress(SECRET.encode())[10:20] not in reply.body


def test_a_reply_that_has_no_body_gets_none(tmp_path: Path, certs: Certs) -> None:
    with Upstream(certs, alpn=("h2",)) as other, live_proxy(tmp_path, certs, other) as live:

        def answer(exchange: Exchange) -> None:
            exchange.start(204, [])
            exchange.send(exchange.record.header("authorization") or b"")
            exchange.finish()

        other.route("/none", answer)
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, other.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            reply = Http2Client(tunnel).request("GET", "/none", other.authority)
    assert (reply.status, reply.body) == (204, b"")


def test_a_large_held_body_is_cleaned_too(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    def answer(exchange: Exchange) -> None:
        secret = exchange.record.header("authorization") or b""
        body = gzip.compress(os.urandom(150_000) + secret + b"x" * 5_000_000)
        exchange.reply(200, body, [("Content-Encoding", "gzip")])

    up.route("/large", answer)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        reply = tunnel.request("POST", "/large", {"Host": up.authority}, b"{}")
    assert reply.body.endswith(b"[redacted by ghost]" + b"x" * 5_000_000)
    assert SECRET.encode() not in reply.body


def test_a_reply_that_no_entry_can_hold_is_withheld_and_leaves_no_call_open(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_addons.delivery.STATUSES", range(1000))
    up.route("/odd", lambda each: each.reply(999))
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/odd", {"Host": up.authority}, b"{}").status == 502
    outcome = proxy.entries(session)[-1]
    assert (outcome.type, outcome.fields["error"]) == ("action.outcome", "ledger.grammar")
    assert (outcome.fields["status"], "http_status" in outcome.fields) == ("failed", False)
    assert not proxy.proxy.services.sessions.get(session.sid).calls
