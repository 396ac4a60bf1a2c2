"""A change that one process makes reaches those who listen to another, in both eras, on both transports."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from ghost_core.errors import UnavailableError
from ghost_memory.server import announcer
from ghost_memory.server.app import build
from ghost_memory.server.service import Caller, Service
from ghost_memory.server.watch import Watch
from support.home import GhostHome, ghost_home
from support.mcp import ERAS, Calls, Raw, in_memory, raw_server
from support.memory import Store
from support.processes import start

CONTEXT = "ghost://project/my%20app/context"
TASKS = "ghost://project/my%20app/tasks"
SAVE = ("ghost_memory_save", {"project_id": "my app", "content": "x"})
TASK = ("ghost_task_create", {"project_id": "my app", "title": "x"})


@asynccontextmanager
async def hearing(server: Any, era: str, *uris: str) -> AsyncIterator[Any]:
    """Connect a client that listens to some addresses, and return where it hears of them."""
    into, heard = anyio.create_memory_object_stream[str](100)

    async def handler(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            await into.send(str(message.params.uri))

    async def pass_on(events: Any) -> None:
        async for event in events:
            await into.send(event.uri)

    async with into, heard, Client(server, mode=era, message_handler=handler) as client:
        if era == "legacy":
            for uri in uris:
                await client.subscribe_resource(uri)
            yield heard
        else:
            async with (
                client.listen(resource_subscriptions=list(uris)) as events,
                anyio.create_task_group() as group,
            ):
                group.start_soon(pass_on, events)
                yield heard
                group.cancel_scope.cancel()


async def hears(server: Any, era: str, write: Any) -> None:
    """Wait until a client has heard of two addresses while another writes."""
    with anyio.fail_after(60):
        async with hearing(server, era, CONTEXT, TASKS) as heard:
            await write()
            missing = {CONTEXT, TASKS}
            while missing:
                missing.discard(await heard.receive())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GhostHome]:
    with ghost_home(tmp_path_factory.mktemp("two")) as made:
        yield made


@pytest.fixture(scope="module")
def other(place: GhostHome) -> Iterator[Raw]:
    """Start the server that writes."""
    with raw_server(place) as server:
        server.handshake()
        server.call(SAVE[0], **SAVE[1])
        yield server


def writing(other: Raw) -> Any:
    """Return what has the other server save a memory and create a task."""

    async def write() -> None:
        for tool, arguments in ((SAVE[0], {**SAVE[1], "content": "y"}), TASK):
            await anyio.to_thread.run_sync(partial(other.call, tool, **arguments))

    return write


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore:resources/")
@pytest.mark.parametrize("era", ERAS)
def test_a_change_of_one_process_reaches_the_subscribers_of_another(
    place: GhostHome, other: Raw, era: str
) -> None:
    words = ["-m", "ghost_cli", "mcp"]
    server = StdioServerParameters(command=sys.executable, args=words, env=place.env)
    anyio.run(hears, server, era, writing(other))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore:resources/")
def test_it_reaches_subscribers_over_http_too(place: GhostHome, other: Raw) -> None:
    running = start(place, "mcp", "--http", "--port", "0")
    url = running.wait_line("Serving memory on", seconds=60).rpartition(" ")[2]
    try:
        for era in ERAS:
            anyio.run(hears, url, era, writing(other))
    finally:
        running.stop()


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> float:
    """Look often."""
    monkeypatch.setattr(announcer, "LOOK_SECONDS", 0.05)
    return 0.15


def test_a_change_here_is_told_at_once_and_once(
    service: Service, call: Calls, memory: Store, looking: float
) -> None:
    call.save("first", "my app")
    memory.clock.pass_seconds(1)
    server = build(service)

    async def work(client: Client) -> list[str]:
        async with client.listen(resource_subscriptions=[CONTEXT]) as events:
            await client.call_tool(*SAVE)
            first = (await anext(events)).uri
            with anyio.move_on_after(looking) as quiet:
                await anext(events)
            assert quiet.cancelled_caught
            return [first]

    assert in_memory(server, "auto", work) == [CONTEXT]


def test_nothing_is_opened_while_nobody_listens(looking: float) -> None:
    opened: list[int] = []

    def opening() -> Any:
        opened.append(1)
        raise UnavailableError("database: locked", code="database.locked")

    async def work(client: Client) -> None:
        await client.list_tools()
        await anyio.sleep(looking)

    in_memory(build(Service(opening)), "auto", work)
    assert opened == []


@pytest.mark.filterwarnings("ignore:resources/")
def test_a_store_that_is_locked_fails_no_subscription(caplog: pytest.LogCaptureFixture) -> None:
    def opening() -> Any:
        raise UnavailableError("database: locked", code="database.locked")

    async def work(client: Client) -> None:
        await client.subscribe_resource(CONTEXT)
        assert (await client.call_tool(*SAVE)).is_error

    in_memory(build(Service(opening)), "legacy", work)
    assert "could not be told: UnavailableError" in caplog.text


def test_who_has_left_is_no_longer_looked_for(service: Service, looking: float) -> None:
    engine, asked = service.engine, []

    def counting() -> Any:
        asked.append(1)
        return engine()

    service.engine = counting  # type: ignore[method-assign]

    async def work(client: Client) -> int:
        async with client.listen(resource_subscriptions=[CONTEXT]):
            pass
        await anyio.sleep(looking)
        before = len(asked)
        await anyio.sleep(looking)
        return len(asked) - before

    assert in_memory(build(service), "auto", work) == 0
    assert service.call("ghost_health", {}, Caller()).failed is False


def test_trouble_fails_no_call_and_the_next_change_is_told(
    service: Service,
    looking: float,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    stale, times = Watch.stale, []

    def failing(watch: Watch) -> list[str]:
        times.append(1)
        if len(times) < 3:
            raise RuntimeError
        return stale(watch)

    monkeypatch.setattr(Watch, "stale", failing)

    async def work(client: Client) -> str:
        async with client.listen(resource_subscriptions=[CONTEXT]) as events:
            assert not (await client.call_tool(*SAVE)).is_error
            return str((await anext(events)).uri)

    assert in_memory(build(service), "auto", work) == CONTEXT
    assert "could not be told: RuntimeError" in caplog.text
