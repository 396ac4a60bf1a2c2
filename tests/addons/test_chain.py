"""Events reach the handlers that exist, in the order of the addons."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest
from mitmproxy import exceptions, options
from mitmproxy.http import HTTPFlow
from mitmproxy.master import Master
from mitmproxy.proxy.layers.http import HttpRequestHook
from mitmproxy.test import tflow

from ghost_addons import chain

type Handle = Callable[[HTTPFlow], object]


class Listener:
    """An addon with one handler."""

    def __init__(self, name: str, handle: Handle) -> None:
        self.name = name
        self.request = handle


class Deaf:
    """An addon without the handler, and with something of its name that cannot be called."""

    request = "no handler"


def told(*addons: object) -> None:
    """Tell addons of a request through the shortened chain."""

    async def program() -> None:
        master = Master(options.Options())
        master.addons.add(*addons)
        chain.shorten(master)
        hook = HttpRequestHook(tflow.tflow())
        await master.addons.trigger_event(hook)
        await master.addons.handle_lifecycle(hook)

    asyncio.run(program())


def test_handlers_run_in_order_and_coroutines_are_awaited() -> None:
    heard: list[str] = []

    async def slow(_: HTTPFlow) -> None:
        await asyncio.sleep(0)
        heard.append("one")

    told(Listener("a", slow), Deaf(), Listener("b", lambda _: heard.append("two")))
    assert heard == ["one", "two", "one", "two"]


def test_a_halt_ends_the_event_there() -> None:
    heard: list[str] = []

    def halt(_: HTTPFlow) -> None:
        raise exceptions.AddonHalt

    told(Listener("a", halt), Listener("b", lambda _: heard.append("two")))
    assert heard == []


def test_a_handler_that_fails_is_logged_and_the_next_one_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[str] = []

    def fail(_: HTTPFlow) -> None:
        raise ValueError("odd")

    with caplog.at_level(logging.ERROR):
        told(Listener("a", fail), Listener("b", lambda _: heard.append("two")))
    assert heard == ["two", "two"]
    assert "Addon error" in caplog.text
