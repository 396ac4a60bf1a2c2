"""One message, one reading: framing, bodies and streams."""

from __future__ import annotations

import hashlib
import os
import resource
from pathlib import Path

import pytest

from support.agent import Tunnel, secure_connect
from support.agent2 import Http2Client, StreamResetError
from support.board import Sight, scenario
from support.certs import Certs
from support.home import SECRET, ghost_home
from support.processes import possess
from support.scene import Scene
from support.shell import entries, eventually, inside, spawn
from support.upstream import Upstream

PROTOCOLS = pytest.mark.parametrize("alpn", ["http/1.1", "h2"])
SMUGGLED = b"GET /admin HTTP/1.1\r\nHost: localhost\r\n\r\n"

HEADS = {
    "length-and-chunked": b"Content-Length: 4\r\nTransfer-Encoding: chunked",
    "chunked-and-length": b"Transfer-Encoding: chunked\r\nContent-Length: 4",
    "two-lengths": b"Content-Length: 4\r\nContent-Length: 6",
    "lengths-in-one-line": b"Content-Length: 4, 6",
    "signed-length": b"Content-Length: +4",
    "negative-length": b"Content-Length: -4",
    "length-in-hex": b"Content-Length: 0x4",
    "length-with-underscore": b"Content-Length: 1_0",
    "unicode-length": "Content-Length: \u0664".encode(),
    "unknown-coding": b"Transfer-Encoding: xchunked",
    "coding-twice": b"Transfer-Encoding: chunked, chunked",
    "coding-not-last": b"Transfer-Encoding: chunked, identity",
    "two-coding-lines": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "space-before-colon": b"Transfer-Encoding : chunked",
    "tab-before-colon": b"Content-Length\t: 4",
    "folded-line": b"X-A: 1\r\n Transfer-Encoding: chunked",
    "folded-first-line": b" X-A: 1\r\nContent-Length: 4",
    "bare-cr": b"X-A: 1\rTransfer-Encoding: chunked\r\nContent-Length: 4",
    "bare-lf": b"X-A: 1\nTransfer-Encoding: chunked\r\nContent-Length: 4",
    "nul": b"X-A: 1\x00\r\nContent-Length: 4",
    "no-name": b": 1\r\nContent-Length: 4",
    "no-colon": b"Transfer-Encoding chunked\r\nContent-Length: 4",
}


@scenario("smuggling", 1, "heads that two servers frame in two ways, with a second request behind")
@pytest.mark.parametrize("name", HEADS)
def test_a_head_with_two_readings_is_refused(name: str, scene: Scene) -> None:
    head = b"POST /status/200 HTTP/1.1\r\nHost: " + scene.up.authority.encode() + b"\r\n"
    with scene.tunnel() as tunnel:
        tunnel.send(head + HEADS[name] + b"\r\n\r\n" + b"0\r\n\r\n" + SMUGGLED)
        try:
            answer = scene.hear(tunnel.answer())
        except (EOFError, OSError):
            scene.sight.agent.append("cut")
        else:
            assert answer.status == 400
    assert b"/admin" not in b"".join(record.target for record in scene.arrived)
    assert all(SECRET.encode() not in record.head for record in scene.arrived)
    assert scene.arrived == ()


CHUNKS = {
    "size-not-hex": b"xyz\r\n",
    "size-signed": b"+4\r\nabcd\r\n0\r\n\r\n",
    "size-prefixed": b"0x4\r\nabcd\r\n0\r\n\r\n",
    "size-underscore": b"0_4\r\nabcd\r\n0\r\n\r\n",
    "size-too-large": b"fffffffffffffffffffff\r\nabcd\r\n",
    "data-too-long": b"2\r\nabcd\r\n0\r\n\r\n",
    "data-without-end": b"4\r\nabcdXX0\r\n\r\n",
    "bare-lf": b"4\nabcd\n0\n\n",
}


@scenario("broken-chunks", 1, "chunked bodies with sizes and ends that are none, a request behind")
@pytest.mark.parametrize("name", CHUNKS)
def test_a_broken_chunk_ends_the_connection(name: str, scene: Scene) -> None:
    head = f"POST /status/200 HTTP/1.1\r\nHost: {scene.up.authority}\r\n"
    with scene.tunnel() as tunnel:
        tunnel.send(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS[name] + SMUGGLED)
        try:
            answer = scene.hear(tunnel.answer())
        except (EOFError, OSError):
            scene.sight.agent.append("cut")
        else:
            assert answer.status == 400
    assert all(record.target == b"/status/200" for record in scene.arrived)
    assert not any(record.complete for record in scene.arrived)


H2 = {
    "transfer-encoding": [("transfer-encoding", "chunked")],
    "connection": [("connection", "x-hop"), ("x-hop", "1")],
    "length-too-long": [("content-length", "500")],
    "length-too-short": [("content-length", "1")],
    "line-break-in-value": [("x-a", "1\r\nx-evil: 1")],
    "line-break-in-name": [("x-a\r\nx-evil", "1")],
    "space-in-name": [("x a", "1")],
    "colon-in-name": [("x-a:b", "1")],
    "upgrade": [("upgrade", "h2c")],
    "pseudo-late": [("x-a", "1"), (":path", "/admin")],
    "path-twice": [(":path", "/admin")],
    "unknown-pseudo": [(":protocol", "websocket")],
}


@scenario("smuggling-h2", 1, "HTTP/2 requests that would be two in HTTP/1.1, or have no such form")
@pytest.mark.parametrize("name", H2)
def test_an_http_2_request_that_is_none_in_http_1_is_refused(name: str, scene: Scene) -> None:
    with scene.tunnel(alpn="h2") as tunnel:
        client = Http2Client(tunnel)
        try:
            answer = client.request("POST", "/status/200", scene.up.authority, H2[name], b"{}")
            assert scene.hear(answer).status == 400
        except (StreamResetError, EOFError, OSError):
            scene.sight.agent.append("reset")
    scene.untouched()


@scenario(
    "h2c-upgrade", 1, "requests that ask for HTTP/2 in clear, another protocol, or name lines"
)
@pytest.mark.parametrize("protocol", ["h2c", "foo/2", "websocket, h2c"])
def test_an_upgrade_does_not_go_on(protocol: str, scene: Scene) -> None:
    lines = {
        "Upgrade": protocol,
        "Connection": "Upgrade, HTTP2-Settings, Authorization, Host",
        "HTTP2-Settings": "AAMAAABkAAQAAP__",
    }
    assert scene.ask("POST", "/echo", lines, b"{}").status in (200, 400)
    for record in scene.arrived:
        assert record.header("upgrade") is None
        assert record.header("connection") is None
        assert record.header("http2-settings") is None
        assert record.all("authorization") == (f"Bearer {SECRET}".encode(),)


@scenario("pipelined", 1, "requests in one breath, one of them forbidden")
def test_requests_in_one_breath_are_judged_one_by_one(scene: Scene) -> None:
    scene.session = scene.spawn(f"POST {scene.up.url}/status/*")
    with scene.tunnel() as tunnel:
        for method, path in (("POST", "/status/201"), ("DELETE", "/echo"), ("POST", "/status/202")):
            tunnel.begin(method, path, {"Host": scene.up.authority}, b"{}")
        assert [scene.hear(tunnel.answer()).status for _ in range(3)] == [201, 403, 202]
    assert [each.path for each in scene.arrived] == ["/status/201", "/status/202"]


@scenario("expect-refused", 2, "a large body that waits for 100, on a path that is refused")
def test_a_refused_call_is_not_asked_for_its_body(scene: Scene) -> None:
    scene.session = scene.spawn(f"GET {scene.up.url}/**")
    lines = {"Host": scene.up.authority, "Expect": "100-continue", "Content-Length": "50000000"}
    with scene.tunnel() as tunnel:
        tunnel.begin("POST", "/echo", lines)
        raw = tunnel.reader.until(b"\r\n\r\n")
        assert raw.startswith(b"HTTP/1.1 403 ")
        assert b"connection: close" in raw
        assert tunnel.closed()
    scene.sight.agent.append("403 at once")
    scene.untouched()
    assert scene.denials()


@scenario("expect-allowed", 2, "a body that waits for 100, on a path that is allowed")
@pytest.mark.parametrize("impatient", [False, True], ids=["waits", "sends-at-once"])
def test_an_allowed_call_is_asked_for_its_body(impatient: bool, scene: Scene) -> None:
    lines = {"Host": scene.up.authority, "Expect": "100-continue", "Content-Length": "2"}
    with scene.tunnel() as tunnel:
        tunnel.begin("POST", "/status/200", lines)
        if not impatient:
            assert tunnel.reader.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        tunnel.send(b"{}")
        assert scene.hear(tunnel.answer()).status == 200
    assert scene.arrived[0].body == b"{}"


@scenario("body-limit", 2, "bodies of 1, 8 and 32 MB that a schema reads, and one over the limit")
@pytest.mark.parametrize(("megabytes", "status"), [(1, 200), (8, 200), (32, 200), (33, 413)])
def test_a_judged_body_passes_whole_or_is_too_large(megabytes: int, status: int, staged) -> None:
    schema = {"type": "object", "required": ["a"]}
    action = {"method": "POST", "path": "/status/200", "request_schema": schema}
    limits = {"proxy": {"buffer_limit": "32MB"}, "tools": {"demo_api": {"actions": {"w": action}}}}
    body = b'{"a":"' + b"x" * (megabytes * 1_000_000 - 8) + b'"}'
    with staged("demo_api:w", clean=True, **limits) as scene, scene.tunnel() as tunnel:
        tunnel.sock.settimeout(15)
        kind = {"Content-Type": "application/json"}
        answer = scene.send(tunnel, "POST", "/status/200", kind, body)
        assert answer.status == status
        if status == 200:
            assert hashlib.sha256(scene.arrived[0].body).digest() == hashlib.sha256(body).digest()
        else:
            scene.untouched()


ODD = {
    "not-json": b"{'a': 1}",
    "cut": b'{"a": 1',
    "two-documents": b'{"a": 1}{"a": 2}',
    "field-twice": b'{"a": 1, "a": "x"}',
    "field-twice-escaped": b'{"a": 1, "\\u0061": "x"}',
    "not-a-number": b'{"a": NaN}',
    "infinity": b'{"a": 1e99999}',
    "too-deep": b'{"a": ' + b"[" * 8_000 + b"]" * 8_000 + b"}",
    "latin-1": b'{"a": 1, "b": "\xe9"}',
    "byte-order-mark": b'\xef\xbb\xbf{"a": 1}',
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "nul": b'{"a": 1}\x00',
    "empty": b"",
}


@scenario(
    "odd-json", 1, "bodies that two readers of JSON take for different things, under a schema"
)
@PROTOCOLS
@pytest.mark.parametrize("name", ODD)
def test_a_body_that_cannot_be_judged_is_refused(name: str, alpn: str, staged) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"maximum": 5}}}
    action = {"method": "POST", "path": "/status/200", "request_schema": schema}
    tools = {"demo_api": {"actions": {"w": action}}}
    body, kind = ODD[name], {"Content-Type": "application/json"}
    if alpn == "h2":
        kind["Content-Length"] = str(len(body))
    with staged("demo_api:w", clean=True, tools=tools) as scene:
        answer = scene.ask("POST", "/status/200", kind, body, alpn=alpn)
        assert answer.status in (400, 403, 415), answer.body
        scene.untouched()


@scenario("live-events", 2, "an event stream with 100 ms between events")
@PROTOCOLS
def test_an_event_arrives_before_the_next_is_sent(alpn: str, scene: Scene) -> None:
    before = len(scene.up.sent)
    answer = scene.ask("POST", "/sse?n=4&gap_ms=100", body=b"{}", alpn=alpn)
    sent = scene.up.wait_sent(before + 4)[before:]
    events = [chunk for chunk in answer.chunks if chunk.data]
    assert len(events) == len(sent) == 4
    for event, following in zip(events, sent[1:], strict=False):
        assert event.at < following.at
    delays = [event.at - each.at for event, each in zip(events, sent, strict=True)]
    scene.sight.agent.append("each event before the next one")
    assert min(delays) < 0.05
    outcome = scene.entries()[-1]
    assert len(outcome.fields["response"]) == 64


@scenario("large-bodies", 2, "100 MB down and 100 MB up through one possess")
def test_large_bodies_pass_in_flat_memory_and_the_record_has_their_commitment(
    tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    size, piece = 100_000_000, os.urandom(100_000)
    up.route("/count", lambda each: each.reply(200, str(len(each.record.body)).encode()))
    with ghost_home(tmp_path, up, certs) as home:
        session = spawn(home, "demo_api")
        with possess(home, "--session-id", session.sid, "--verbose") as running:
            ca = home.root / "ca" / "ghost-ca-cert.pem"
            with secure_connect(running.port, up.authority, session.auth, ca=ca) as tunnel:
                tunnel.sock.settimeout(30)
                both_ways(tunnel, up, piece, 2_000_000)
                before = resident(running.process.pid)
                both_ways(tunnel, up, piece, size)
                grown = resident(running.process.pid) - before
            assert grown < 30_000_000
            outcomes = eventually(
                lambda: (
                    len(entries(home, session, "action.outcome")) == 4
                    and entries(home, session, "action.outcome")
                ),
                "four outcomes",
            )
        assert [each.fields["received"] for each in outcomes[2:]] == [size, len(str(size))]
        assert outcomes[3].fields["sent"] == size
        assert len(outcomes[3].fields["request_body"]) == 64
        assert inside(home, "evaporate", "--session-id", session.sid).code == 0
        assert inside(home, "replay", "--session-id", session.sid).code == 0
    sight.upstream.append("100 MB sent, 100 MB received")
    sight.agent.append(f"100 MB; the proxy grew by {grown / 1_000_000:.0f} MB")
    sight.record.append("both commitments; verified")


def both_ways(tunnel: Tunnel, up: Upstream, piece: bytes, size: int) -> None:
    """Fetch so many bytes, then send as many."""
    tunnel.begin("GET", f"/bytes/{size}", {"Host": up.authority})
    assert sum(len(each.data) for each in tunnel.chunks(tunnel.head())) == size
    tunnel.begin("POST", "/count", {"Host": up.authority, "Content-Length": str(size)})
    for _ in range(size // len(piece)):
        tunnel.send(piece)
    assert tunnel.answer().body == str(size).encode()


def resident(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize()
