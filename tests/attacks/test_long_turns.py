"""Work that one read brings and that takes seconds: the loop goes on with others in between."""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import pytest

from ghost_credentials.scrub import MARK
from support import fixtures
from support.agent import Tunnel, secure_connect
from support.certs import Certs
from support.home import SECRET
from support.live import LiveProxy, live_proxy
from support.upstream import Upstream

up = fixtures.upstream("module", names=("localhost", "127.0.0.1"))
PIECES = 4000
FILL = SECRET[:12].encode() * 1_000_000
FORMS = [SECRET, SECRET.upper(), SECRET.encode().hex(), base64.b64encode(SECRET.encode()).decode()]
LARGE = brotli.compress(FILL + " ".join(FORMS).encode() + FILL, quality=5)


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    with live_proxy(tmp_path, certs, up) as proxy:
        yield proxy


def pings(tunnel: Tunnel, up: Upstream) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key}
    tunnel.begin("GET", "/ws", {"Host": up.authority, "Sec-WebSocket-Version": "13", **lines})
    assert tunnel.head().status == 101
    tunnel.send(b"\x89\x80mask" * PIECES + b"\x81\x81\0\0\0\0!")
    while b"!" not in tunnel.reader.some(65_536):
        pass


def chunks(tunnel: Tunnel, up: Upstream) -> None:
    head = f"POST /status/200 HTTP/1.1\r\nHost: {up.authority}\r\nContent-Type: text/plain\r\n"
    body = b"1\r\na\r\n" * PIECES + b"0\r\n\r\n"
    tunnel.send(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + body)
    assert tunnel.answer().status == 200


def a_small_reply_that_is_large(tunnel: Tunnel, up: Upstream) -> None:
    up.route("/large", lambda each: each.reply(200, LARGE, [("Content-Encoding", "br")]))
    assert len(LARGE) < 1000
    body = tunnel.request("GET", "/large", {"Host": up.authority}).body
    assert body == FILL + b" ".join([MARK] * len(FORMS)) + FILL


@pytest.mark.parametrize("work", [pings, chunks, a_small_reply_that_is_large])
def test_others_have_a_turn_in_between(
    work: Callable[[Tunnel, Upstream], None], live: LiveProxy, up: Upstream
) -> None:
    session = live.spawn("demo_api")
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        assert tunnel.request("GET", "/status/200", {"Host": up.authority}).status == 200
        began = time.monotonic()
        with live.waits() as waits:
            work(tunnel, up)
    took = time.monotonic() - began
    assert max(waits) < took / 3, (max(waits), took)
