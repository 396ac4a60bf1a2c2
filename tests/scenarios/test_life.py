"""A session that has ended does nothing more, on whatever is still open."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from ghost_addons.grammar import LINES
from support.agent import Tunnel, raw_connect
from support.agent2 import Http2Client, StreamResetError
from support.board import Sight, scenario
from support.exchange import Exchange
from support.http1 import Http1Exchange
from support.live import until
from support.scene import Scene, reason_of
from support.shell import inside

CUT_SECONDS = 1.0
SLOW_SECONDS = 3.0  # of a slow machine's own; a grace would be five
PROTOCOLS = pytest.mark.parametrize("alpn", ["http/1.1", "h2"])
ENDS = pytest.mark.parametrize("end", ["evaporated", "expired"])


def ended(scene: Scene, end: str) -> float:
    """End the session of the scene and return when; an expiry is waited for, at most 5 s."""
    if end == "evaporated":
        scene.proxy.evaporate(scene.session, grace_seconds=4)
        return time.monotonic()
    live = scene.proxy.proxy.services.sessions.get(scene.session.sid)
    assert live is not None
    until(live.ends)
    return time.monotonic()


def short(scene: Scene, end: str) -> None:
    """Give the scene a session that expires soon, where that is its end."""
    if end == "expired":
        scene.session = scene.spawn("demo_api", ttl_seconds=2)


def refused_again(scene: Scene) -> None:
    """Check that a new connection with the old token is not served, and nothing was sent."""
    with raw_connect(scene.proxy.port, scene.up.authority, scene.session.auth) as tunnel:
        assert tunnel.connected is not None
        assert scene.hear(tunnel.connected).status == 407


@scenario("life-after-end", 1, "one more request on an open tunnel of a session that has ended")
@PROTOCOLS
@ENDS
def test_an_open_tunnel_is_of_no_use_after_the_end(end: str, alpn: str, scene: Scene) -> None:
    short(scene, end)
    with scene.tunnel(alpn=alpn) as tunnel:
        client = Http2Client(tunnel) if alpn == "h2" else None
        first = (
            client.request("POST", "/echo", scene.up.authority, body=b"{}")
            if client
            else tunnel.request("POST", "/echo", {"Host": scene.up.authority}, b"{}")
        )
        assert scene.hear(first).status == 200
        ended(scene, end)
        try:
            again = (
                client.request("POST", "/echo", scene.up.authority, body=b"{}")
                if client
                else tunnel.request("POST", "/echo", {"Host": scene.up.authority}, b"{}")
            )
            assert scene.hear(again).status == 407
        except (EOFError, OSError, StreamResetError):
            scene.sight.agent.append("cut")
    refused_again(scene)
    assert len(scene.arrived) == 1


@scenario("stream-after-end", 1, "an event stream and an upload that go on when their session ends")
@PROTOCOLS
@ENDS
@pytest.mark.parametrize("way", ["down", "up"])
def test_a_stream_is_cut_within_a_second(way: str, end: str, alpn: str, scene: Scene) -> None:
    short(scene, end)
    with scene.tunnel(alpn=alpn) as tunnel:
        streaming(scene, tunnel, way, alpn)
        began = ended(scene, end)
        assert tunnel.closed()
        assert time.monotonic() - began < CUT_SECONDS + SLOW_SECONDS
    scene.sight.agent.append("cut")
    (outcome,) = scene.proxy.wait_for(scene.session, 1, "action.outcome")
    assert outcome.fields["ended"] == "aborted"
    assert outcome.fields["error"] == "session.ended"
    refused_again(scene)


def streaming(scene: Scene, tunnel: Tunnel, way: str, alpn: str) -> None:
    """Begin a stream and return once it flows."""
    host, before = scene.up.authority, scene.up.body_bytes
    if way == "down":
        path = "/sse?n=200&gap_ms=50"
        if alpn == "h2":
            Http2Client(tunnel).begin("POST", path, host, body=b"{}")
        else:
            tunnel.begin("POST", path, {"Host": host}, b"{}")
        scene.up.wait_until(lambda: any(e.path == "/sse" for e in scene.up._requests), "a stream")
        until(lambda: len(scene.arrived) == 1)
        tunnel.reader.some(1)
        return
    if alpn == "h2":
        client = Http2Client(tunnel)
        stream = client.state.get_next_available_stream_id()
        head = [(":method", "POST"), (":scheme", "https"), (":authority", host), (":path", "/echo")]
        client.state.send_headers(stream, head)
        client.state.send_data(stream, b"x" * 9_999 + b"\n")
        client.flush()
    else:
        tunnel.begin("POST", "/echo", {"Host": host, "Transfer-Encoding": "chunked"})
        tunnel.send(b"2710\r\n" + b"x" * 9_999 + b"\n\r\n")
    until(lambda: scene.up.body_bytes >= before + 10_000)


@contextmanager
def websocket(scene: Scene) -> Iterator[ClientConnection]:
    """Open a websocket with a real client."""
    with connect(
        f"wss://{scene.up.authority}/ws",
        ssl=ssl.create_default_context(cafile=str(scene.proxy.ca)),
        proxy=f"http://{scene.session.sid}:{scene.session.token}@127.0.0.1:{scene.proxy.port}",
        open_timeout=5,
        close_timeout=1,
        max_size=4_000_000,
    ) as client:
        yield client


@scenario("websocket-after-end", 1, "a message on the open websocket of a session that has ended")
@ENDS
def test_a_websocket_is_cut_within_a_second(end: str, scene: Scene) -> None:
    short(scene, end)
    with websocket(scene) as client:
        client.send("one")
        assert client.recv(timeout=5) == "one"
        began = ended(scene, end)
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)
        assert time.monotonic() - began < CUT_SECONDS + SLOW_SECONDS
    scene.sight.agent.append("one echo, then cut")
    (outcome,) = scene.proxy.wait_for(scene.session, 1, "action.outcome")
    assert (outcome.fields["frames_out"], outcome.fields["ended"]) == (1, "aborted")


UNSEALED = scenario(
    "seal-kept-off", 1, "answers and refused hosts that no entry holds, to keep a session open"
)


@UNSEALED
@pytest.mark.parametrize("held", [True, False], ids=["held", "streamed"])
@pytest.mark.parametrize("status", ["0", "42", "099", "-7", "600", "999", "200000"])
def test_a_status_that_is_none_is_refused_and_the_session_sealed(
    status: str, held: bool, scene: Scene
) -> None:
    def odd(exchange: Exchange) -> None:
        assert isinstance(exchange, Http1Exchange)
        exchange.keep = False
        rest = "Content-Length: 2\r\n\r\nhi" if held else "\r\nhi"
        exchange.raw(f"HTTP/1.1 {status} odd\r\n{rest}".encode())

    scene.up.route("/odd", odd)
    answer = scene.ask("POST", "/odd", body=b"{}")
    assert (answer.status, reason_of(answer)) == (502, "reply.status")
    (outcome,) = scene.proxy.wait_for(scene.session, 1, "action.outcome")
    assert (outcome.fields["status"], outcome.fields["error"]) == ("failed", "reply.status")
    assert scene.proxy.evaporate(scene.session)["ephemeral_key_destroyed"] is True


@UNSEALED
def test_a_reply_of_too_many_lines_is_refused_and_entered(scene: Scene) -> None:
    lines = [(f"x-{number}", "") for number in range(LINES)]
    scene.up.route("/lines", lambda exchange: exchange.reply(200, b"hi", lines))
    answer = scene.ask("POST", "/lines", body=b"{}")
    assert (answer.status, reason_of(answer)) == (502, "reply.lines")
    (outcome,) = scene.proxy.wait_for(scene.session, 1, "action.outcome")
    assert (outcome.fields["status"], outcome.fields["error"]) == ("failed", "reply.lines")


@UNSEALED
def test_refusals_of_many_long_hosts_do_not_make_the_last_entry_too_long(scene: Scene) -> None:
    for number in range(70):
        host = ".".join([f"{number:02d}" + "a" * 59] * 4)
        with scene.connect(f"{host}:8443") as tunnel:
            assert tunnel.status == 403
    assert scene.proxy.evaporate(scene.session)["ephemeral_key_destroyed"] is True
    closed = next(
        each for each in scene.proxy.entries(scene.session) if each.type == "session.closed"
    )
    assert int(str(closed.fields["omitted"])) > 0


@scenario("websocket", 2, "a websocket with pings, a message of a megabyte and a close code")
def test_a_websocket_passes_whole(scene: Scene) -> None:
    with websocket(scene) as client:
        for message in ("text", b"\x00\x01binary", "x" * 1_000_000):
            client.send(message)
            assert client.recv(timeout=5) == message
        client.ping().wait(5)
        client.close(code=4001)
    scene.sight.agent.append("3 echoes, a pong, close")
    (outcome,) = scene.proxy.wait_for(scene.session, 1, "action.outcome")
    assert (outcome.fields["frames_out"], outcome.fields["frames_in"]) == (3, 3)
    assert outcome.fields["ended"] == "complete"


@scenario("websocket-refused", 2, "a websocket that no scope allows")
def test_a_refused_websocket_is_answered_at_once(scene: Scene) -> None:
    scene.session = scene.spawn(f"POST {scene.up.url}/**")
    lines = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    began = time.monotonic()
    scene.refused(scene.ask("GET", "/ws", lines), 403, "scope.action")
    assert time.monotonic() - began < 1


@scenario(
    "foreign-token", 1, "the token of one session under the name of another, and made-up ones"
)
@pytest.mark.parametrize("case", ["swapped", "cut", "longer", "unknown", "bearer-cut", "none"])
def test_a_token_opens_its_own_session_only(case: str, scene: Scene) -> None:
    other = scene.spawn("demo_api")
    sid, token = scene.session.auth
    auth = {
        "swapped": (other.sid, token),
        "cut": (sid, token[:-1]),
        "longer": (sid, token + "A"),
        "unknown": ("gh_" + "0" * 32, token),
        "bearer-cut": f"Bearer {token[:-2]}",
        "none": None,
    }[case]
    with raw_connect(scene.proxy.port, scene.up.authority, auth) as tunnel:
        assert tunnel.connected is not None
        answer = scene.hear(tunnel.connected)
    assert answer.status == 407
    assert answer.header("proxy-authenticate") is not None
    scene.untouched()


@scenario("child-of-ended", 1, "a call of a child session after its parent has ended")
def test_a_child_ends_with_its_parent(scene: Scene) -> None:
    parent = scene.session
    child = scene.spawn("demo_api", ttl_seconds=30, parent=parent.sid)
    scene.session = child
    assert scene.ask(body=b"{}").status == 200
    scene.proxy.evaporate(parent)
    refused_again(scene)
    assert len(scene.arrived) == 1


@scenario("wider-child", 1, "an agent that asks for a child session with more than it has")
def test_an_agent_cannot_give_itself_more(scene: Scene, sight: Sight) -> None:
    home, sid = scene.proxy.home, scene.session.sid
    for words, code in (
        (["--scope", "GET https://elsewhere.test/**", "--ttl", "5"], "session.parent_scopes"),
        (["--scope", "demo_api", "--ttl", "3600"], "session.parent_ttl"),
    ):
        done = inside(home, "--json", "spawn", "--intent", "more", "--parent", sid, *words)
        assert (done.code, done.error["code"]) == (5, code)
        sight.agent.append(f"exit 5 {code}")
