"""A connection's events come in order, whether a hook ends at once or later, and whatever breaks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mitmproxy import http, options
from mitmproxy.master import Master
from mitmproxy.proxy import commands, events, mode_servers
from mitmproxy.proxy.layers.http import HttpRequestHook
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.test import tflow

from ghost_addons import chain, conductor, pacing

ENGINE = conductor.Conductor.__mro__[1]


class Wire:
    """The writing end of a connection that goes nowhere."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closing = False

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Name both ends."""
        return ("127.0.0.1", 1) if name.endswith("name") else default

    def is_closing(self) -> bool:
        """Tell whether it is on its way to be closed."""
        return self.closing

    def write(self, data: bytes) -> None:
        """Keep what is written."""
        self.written.append(data)


class Layers:
    """Layers that note every event, and answer a piece of data by what it names."""

    def __init__(self, answers: dict[bytes, Callable[[], commands.Command]]) -> None:
        self.seen: list[str] = []
        self._answers = answers
        self.context = type("Context", (), {"layers": []})()

    def handle_event(self, event: events.Event) -> Iterator[commands.Command]:
        """Note it, answer it, and note that the answer was taken."""
        name = event.data.decode() if isinstance(event, events.DataReceived) else "hook ended"
        self.seen.append(name)
        if isinstance(event, events.DataReceived) and event.data in self._answers:
            yield self._answers[event.data]()
            self.seen.append(f"after {name}")


class Listener:
    """An addon with one handler."""

    def __init__(self, handle: Callable[[http.HTTPFlow], object]) -> None:
        self.request = handle


def hook() -> commands.Command:
    return HttpRequestHook(tflow.tflow())


def conducted(
    answers: dict[bytes, Callable[[], commands.Command]], listeners: tuple[Listener, ...] = ()
) -> tuple[Any, Layers]:
    """Return a conducted connection and its layers."""
    master = Master(options.Options())
    master.options.add_option("tcp_timeout", int, 600, "")
    master.addons.add(*listeners)
    conductor.Conductor.table = chain.shorten(master)
    handler: Any = conductor.Conductor(
        master,
        None,
        Wire(),
        master.options,
        ProxyMode.parse("regular"),  # type: ignore[arg-type]
    )
    handler.layer = layers = Layers(answers)
    return handler, layers


def told(
    *pieces: bytes,
    answers: dict[bytes, Callable[[], commands.Command]],
    listeners: tuple[Listener, ...] = (),
    then: Callable[[Any], None] = lambda _: None,
) -> list[str]:
    """Tell a conducted connection of pieces of data; return what its layers saw."""

    async def program() -> list[str]:
        handler, layers = conducted(answers, listeners)
        for piece in pieces:
            await handler.server_event(events.DataReceived(handler.client, piece))
        for _ in range(5):
            await asyncio.sleep(0)
        then(handler)
        return layers.seen

    return asyncio.run(program())


def test_a_hook_nobody_listens_to_ends_after_what_started_it() -> None:
    assert told(b"a", answers={b"a": hook}) == ["a", "after a", "hook ended"]


def test_a_handler_that_ends_at_once_comes_back_after_what_started_it() -> None:
    listener = Listener(lambda _: None)
    found = told(b"a", b"b", answers={b"a": hook}, listeners=(listener,))
    assert found == ["a", "after a", "hook ended", "b"]


def test_other_events_pass_while_a_handler_waits() -> None:
    async def slow(_: http.HTTPFlow) -> None:
        await asyncio.sleep(0)

    found = told(b"a", b"b", answers={b"a": hook}, listeners=(Listener(slow),))
    assert found == ["a", "after a", "b", "hook ended"]


def test_a_connection_is_not_idle_while_a_handler_waits() -> None:
    idle: list[bool] = []

    async def slow(_: http.HTTPFlow) -> None:
        await asyncio.Event().wait()

    def look(handler: Any) -> None:
        idle.append(handler.timeout_watchdog.can_timeout.is_set())

    told(b"a", answers={b"a": hook}, listeners=(Listener(slow),), then=look)
    assert idle == [False]


def test_layers_that_break_are_logged_and_the_next_event_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        found = told(b"a", b"b", answers={b"a": commands.Command})
    assert found == ["a", "b"]
    assert "mitmproxy has crashed" in caplog.text


def test_data_for_a_connection_that_is_gone_is_dropped() -> None:
    written: list[bytes] = []
    lost = tflow.tserver_conn()

    def look(handler: Any) -> None:
        written.extend(handler.transports[handler.client].writer.written)

    told(b"a", answers={b"a": lambda: commands.SendData(lost, b"late")}, then=look)
    assert written == []


def test_a_long_event_pauses_and_what_comes_meanwhile_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pacing, "TURN_SECONDS", -1.0)  # whatever it is, it is long

    async def program() -> tuple[list[str], list[str]]:
        handler, layers = conducted({b"one": hook, b"two": hook})
        during: list[str] = []
        work = [
            asyncio.create_task(handler.server_event(events.DataReceived(handler.client, each)))
            for each in (b"one", b"two")
        ]
        await asyncio.sleep(0)
        during += layers.seen
        await asyncio.gather(*work)
        return during, layers.seen

    during, seen = asyncio.run(program())
    assert during == ["one"]
    assert seen == ["one", "after one", "hook ended", "two", "after two", "hook ended"]


def test_who_is_cancelled_in_a_pause_ends_the_event_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "TURN_SECONDS", -1.0)

    async def program() -> tuple[list[str], bool]:
        handler, layers = conducted({b"one": hook})

        async def read() -> None:
            await handler.server_event(events.DataReceived(handler.client, b"one"))
            await asyncio.Event().wait()

        reading = asyncio.create_task(read())
        await asyncio.sleep(0)
        assert layers.seen == ["one"]
        reading.cancel()
        await asyncio.wait([reading], timeout=10)
        return layers.seen, reading.cancelled()

    assert asyncio.run(program()) == (["one", "after one", "hook ended"], True)


def table() -> chain.Table:
    """Return the handlers of an engine without addons."""

    async def program() -> chain.Table:
        return chain.Table(Master(options.Options()).addons)

    return asyncio.run(program())


def test_the_installed_engine_is_the_one_that_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mode_servers, "ProxyConnectionHandler", ENGINE)
    assert conductor.install(table())
    assert mode_servers.ProxyConnectionHandler is conductor.Conductor


def test_an_engine_that_changed_conducts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mode_servers, "ProxyConnectionHandler", ENGINE)
    monkeypatch.setattr(conductor, "_READ", ((ENGINE, "handle_hook", "0" * 16),))
    assert not conductor.install(table())
    assert mode_servers.ProxyConnectionHandler is ENGINE
