"""An HTTP/2 client that takes nothing fills no memory, and keeps only its own stream waiting."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from h2.config import H2Configuration
from mitmproxy.connection import Server

from ghost_addons import backlog
from ghost_addons.backlog import Backlog, Waits
from support.agent import secure_connect
from support.agent2 import Http2Client
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, until
from support.upstream import Upstream

LARGE = 16_000_000  # more than the system's buffers between all three hold
READ = 65_536  # what the engine reads at once
FULL = backlog.STREAM_BYTES + 1


def flood(exchange: Exchange) -> None:
    exchange.start(200, [("Content-Type", "text/plain")])
    for _ in range(LARGE // 100_000):
        exchange.send(b"x" * 100_000)
    exchange.finish()


def kept() -> int:
    """Return what connections of clients keep for stream 1."""
    sides = [each for each in gc.get_objects() if isinstance(each, Backlog)]
    return sum(each.kept(1) for each in sides if not each.config.client_side)


def test_what_a_client_does_not_take_is_not_read_either(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/flood", flood)
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        client = Http2Client(tunnel)
        assert client.begin("GET", "/flood", up.authority) == 1
        until(lambda: kept() > backlog.STREAM_BYTES)
        client.state.increment_flow_control_window(1_000_000)  # for the others on this connection
        for _ in range(5):  # each gives the proxy time to read on
            assert client.request("GET", "/status/204", up.authority).status == 204
        assert kept() <= backlog.STREAM_BYTES + 2 * READ
        client.state.increment_flow_control_window(2**30, 1)
        client.state.increment_flow_control_window(2**30)
        client.flush()
        assert len(client.answer(1).body) == LARGE


@contextmanager
def filled(size: int) -> Iterator[tuple[Backlog, Waits]]:
    """Return a side that keeps so many bytes of its first stream, and waits for room there."""
    side = Backlog(H2Configuration(client_side=True))
    side.initiate_connection()
    head = [(":method", "POST"), (":path", "/"), (":scheme", "https"), (":authority", "a.test")]
    side.send_headers(1, head)
    side.peer = Server(address=("127.0.0.1", 1))
    backlog.begin()
    side.send_data(1, b"x" * (size + 65_535))
    yield side, Waits()


async def waited(waits: Waits, *steps: object, reader: Server | None = None) -> bool:
    """Tell whether who waits for room has to wait still after the steps."""
    room = asyncio.ensure_future(waits.room(backlog.taken(), reader=reader))
    await asyncio.sleep(0)
    for step in steps:
        assert callable(step)
        step()
        waits.moved()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    waiting = not room.done()
    room.cancel()
    return waiting


@pytest.mark.parametrize(("size", "waits"), [(FULL, True), (FULL - 1, False), (0, False)])
def test_beyond_some_bytes_who_sends_has_to_wait(size: int, waits: bool) -> None:
    with filled(size) as (_, who):
        assert asyncio.run(waited(who)) is waits


def test_nobody_waits_for_who_has_gone_or_for_itself() -> None:
    with filled(FULL) as (side, who):
        assert not asyncio.run(waited(who, side.stream_buffers.clear))
    with filled(FULL) as (side, who):
        assert not asyncio.run(waited(who, reader=side.peer))


def test_a_client_that_is_not_read_from_may_keep_more() -> None:
    """Its windows cannot open meanwhile, and both would wait for each other."""
    with filled(FULL) as (_, who):
        assert not asyncio.run(waited(who, lambda: who.client_waits(now=True)))
    with filled(FULL * 16) as (_, who):
        assert asyncio.run(waited(who, lambda: who.client_waits(now=True)))


def test_what_another_event_fed_is_forgotten() -> None:
    with filled(FULL):
        backlog.begin()
        assert backlog.taken() == []
