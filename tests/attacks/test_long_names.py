"""Names of fields that are long or odd: they keep nobody waiting but the call that sent them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from support import fixtures
from support.agent import secure_connect
from support.certs import Certs
from support.live import LiveProxy, live_proxy
from support.upstream import Upstream

RULE = '[[rules]]\ndeny = { host = "localhost", when = "amount > 10" }'
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
MANY = 6_000_000
MARKS = "a" + "\u0301" * 16_000 + "\u0316" * 16_000  # normalizing sorts them, two by two
STEP_SECONDS, WORST_SECONDS = 0.01, 1.0

up = fixtures.upstream("module", names=("localhost", "127.0.0.1"))


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    with live_proxy(tmp_path, certs, up) as proxy:
        proxy.home.append(RULE)
        yield proxy


@pytest.mark.parametrize(
    ("kind", "query", "body"),
    [
        (JSON, "", f'{{"{MARKS}":1,"amount":1}}'),
        (FORM, "", f"{quote(MARKS)}=1&amount=1"),
        (FORM, f"?{quote(MARKS)}=1", "amount=1"),
        (FORM, "", f"a{'[]' * MANY}=1&amount=1"),
    ],
    ids=["json", "form", "query", "steps"],
)
def test_a_name_keeps_nobody_else_waiting(
    kind: str, query: str, body: str, live: LiveProxy, up: Upstream
) -> None:
    session = live.spawn("demo_api")
    lines = {"Host": up.authority, "Content-Type": kind}
    with (
        secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel,
        longest_wait(live) as waits,
    ):
        answer = tunnel.request("POST", f"/status/200{query}", lines, body.encode())
    assert answer.status == (400 if len(body) > MANY else 200)
    assert max(waits) < WORST_SECONDS


@contextmanager
def longest_wait(live: LiveProxy) -> Iterator[list[float]]:
    """Fill a list with how long the proxy's loop kept somebody waiting who asked for little."""
    waits: list[float] = []

    async def watch() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(STEP_SECONDS)
            waits.append(time.monotonic() - began - STEP_SECONDS)

    task: Future[None] = asyncio.run_coroutine_threadsafe(watch(), live._loop)
    try:
        yield waits
        live.do(asyncio.sleep(2 * STEP_SECONDS))  # the last wait is over then
    finally:
        task.cancel()
