"""`ghost mcp --http` as a process: the official client in both eras, and what must not reach it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import requests
from mcp import Client

from ghost_core.errors import UnavailableError
from ghost_memory.server import loopback
from support import ledger
from support.home import GhostHome, ghost_home
from support.mcp import ERAS
from support.processes import Running, ghost, start

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[GhostHome]:
    with ghost_home(tmp_path) as made:
        yield made


@contextmanager
def serving(place: GhostHome) -> Iterator[tuple[str, Running]]:
    running = start(place, "mcp", "--http", "--port", "0")
    line = running.wait_line("Serving memory on", seconds=60)
    try:
        yield line.rpartition(" ")[2], running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve memory for all tests that leave the server as it is."""
    with ghost_home(tmp_path_factory.mktemp("http")) as made, serving(made) as (url, _):
        yield url


@pytest.mark.parametrize("era", ERAS)
def test_a_client_of_each_era_is_served(url: str, era: str) -> None:
    async def run() -> Any:
        with anyio.fail_after(60):
            async with Client(url, mode=era) as client:
                assert len((await client.list_tools()).tools) == 20
                here = {"project_id": era}
                await client.call_tool("ghost_memory_save", {**here, "content": "żółw"})
                return await client.call_tool("ghost_memory_search", {**here, "query": "żółw"})

    found = anyio.run(run)
    assert found.structured_content["total"] == 1


def test_only_loopback_listens(url: str) -> None:
    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("/mcp")
    port = int(url.rpartition(":")[2].removesuffix("/mcp"))
    other = socket.gethostbyname(socket.gethostname())
    if not other.startswith("127."):
        with pytest.raises((OSError, AssertionError)), socket.create_connection((other, port), 2):
            pass


def test_what_is_no_json_is_answered(url: str) -> None:
    answer = requests.post(
        url,
        data=b"garbage",
        headers={
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        },
        timeout=20,
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_what_it_wrote_is_sealed(place: GhostHome, number: int) -> None:
    async def save(url: str) -> None:
        async with Client(url) as client:
            await client.call_tool("ghost_memory_save", {"project_id": "app", "content": "x"})

    with serving(place) as (url, running):
        anyio.run(save, url)
        assert running.stop(number) == 0
    assert set(ledger.rows(place.root, "SELECT status FROM sessions")) == {"sealed"}


def test_a_port_that_is_taken_is_named(place: GhostHome) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = ghost(place, "mcp", "--http", "--port", str(port))
        with pytest.raises(UnavailableError) as raised:
            loopback.listener(port)
    assert done.code == 4
    assert f"port {port}: in use" in done.err
    assert raised.value.code == "port.busy"
