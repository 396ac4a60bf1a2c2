"""A load client of our own: HTTPS through a CONNECT proxy or direct, keep-alive or fresh connections.

Prints one JSON object: requests per second, latencies in milliseconds, failures. With `--stream` it
reads an event stream per request and tells how late the first event came: the upstream writes its
monotonic clock into the event, and both run on one machine.

usage: load.py --url https://localhost:8443/echo --ca ca.pem [--proxy 127.0.0.1:9999] …
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
import re
import ssl
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import uvloop
from lane import Lane, Whole, answer_complete, event_complete, head_complete

CLOCK = re.compile(rb'"ns": ?(\d+)')


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go, through what, and the bytes to send."""

    host: str
    port: int
    dial: tuple[str, int]
    connect: bytes
    request: bytes
    context: ssl.SSLContext
    stream: bool

    @property
    def whole(self) -> Whole:
        """What ends the wait for an answer."""
        return event_complete if self.stream else answer_complete


@dataclass(slots=True)
class Tally:
    """What came back: times in seconds, failures, and how many requests are left."""

    left: int
    times: list[float] = field(default_factory=list)
    failures: int = 0
    reason: str = ""

    def take(self) -> bool:
        """Take one request from the budget."""
        self.left -= 1
        return self.left >= 0


async def open_lane(target: Target) -> Lane:
    """Connect, through CONNECT where there is a proxy, and start TLS for the target's name."""
    loop = asyncio.get_running_loop()
    transport, lane = await loop.create_connection(Lane, *target.dial)
    lane.transport = transport
    if target.connect:
        answer = await lane.exchange(target.connect, head_complete)
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            raise ConnectionRefusedError(answer.split(b"\r\n", 1)[0].decode())
    secured = await loop.start_tls(transport, lane, target.context, server_hostname=target.host)
    lane.transport = secured
    return lane


async def call(lane: Lane, target: Target, tally: Tally, started: float) -> None:
    """Make one call and note its time; a status other than 2xx is a failure."""
    answer = await lane.exchange(target.request, target.whole)
    now = time.perf_counter()
    if answer[9:10] != b"2":
        tally.failures += 1
        tally.reason = tally.reason or answer.split(b"\r\n", 1)[0].decode("latin-1")
    elif target.stream:
        found = CLOCK.search(answer)
        tally.times.append((time.monotonic_ns() - int(found[1])) / 1e9 if found else now - started)
    else:
        tally.times.append(now - started)


async def worker(target: Target, tally: Tally, *, fresh: bool) -> None:
    """Call until the budget is used up, on one connection or on a fresh one per call."""
    lane: Lane | None = None
    while tally.take():
        started = time.perf_counter()
        try:
            if lane is None:
                lane = await open_lane(target)
            await call(lane, target, tally, started)
        except (OSError, TimeoutError) as error:
            tally.failures += 1
            tally.reason = tally.reason or f"{type(error).__name__}: {error}"
            close(lane)
            lane = None
        if fresh or target.stream:
            close(lane)
            lane = None


def close(lane: Lane | None) -> None:
    """Drop a connection."""
    if lane is not None and lane.transport is not None:
        with contextlib.suppress(OSError):
            lane.transport.abort()


async def run(target: Target, *, requests: int, connections: int, fresh: bool) -> dict[str, object]:
    """Run the load and return the figures."""
    tally = Tally(requests)
    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(worker(target, tally, fresh=fresh))
    seconds = time.perf_counter() - started
    times = sorted(tally.times)
    return {
        "requests": len(times),
        "failures": tally.failures,
        "reason": tally.reason,
        "rps": len(times) / seconds,
        **{f"p{part}_ms": quantile(times, part / 100) * 1000 for part in (50, 95, 99)},
    }


def quantile(times: list[float], part: float) -> float:
    """Return the value below which that part of the sorted times lies; 0 without times."""
    return times[min(len(times) - 1, int(len(times) * part))] if times else 0.0


def target_of(words: argparse.Namespace) -> Target:
    """Prepare everything that does not change between calls."""
    url = urlsplit(words.url)
    host, port = url.hostname or "localhost", url.port or 443
    body = words.body.encode()
    lines = [
        f"{'POST' if body else 'GET'} {url.path} HTTP/1.1",
        f"Host: {host}:{port}",
        f"Authorization: Bearer {words.bearer}",
        *(["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []),
    ]
    context = ssl.create_default_context(cafile=words.ca)
    context.set_alpn_protocols(["http/1.1"])
    dial = ("127.0.0.1", port)
    connect = b""
    if words.proxy:
        name, _, number = words.proxy.rpartition(":")
        dial, connect = (name, int(number)), connect_head(f"{host}:{port}", words.auth)
    request = "\r\n".join([*lines, "", ""]).encode() + body
    return Target(host, port, dial, connect, request, context, words.stream)


def connect_head(authority: str, auth: str) -> bytes:
    """Return the bytes of CONNECT."""
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}"]
    if auth:
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(auth.encode()).decode()}")
    return "\r\n".join([*lines, "", ""]).encode()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--ca", required=True, type=Path)
    parser.add_argument("--proxy", default="")
    parser.add_argument("--auth", default="")
    parser.add_argument("--bearer", default="placeholder")
    parser.add_argument("--body", default="")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--fresh", action="store_true", help="a new connection per request")
    parser.add_argument("--stream", action="store_true", help="measure the first event")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = arguments()
    work = run(
        target_of(chosen),
        requests=chosen.requests,
        connections=chosen.connections,
        fresh=chosen.fresh,
    )
    print(json.dumps(uvloop.run(work)))
