"""Events and commands travel as they do in the engine, with or without a layer that waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import options
from mitmproxy.connection import Client
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import Layer
from mitmproxy.proxy.layers.http import HttpLayer, HTTPMode, HttpRequestHook
from mitmproxy.proxy.layers.http._base import HttpCommand
from mitmproxy.test import tflow

from ghost_addons import routing

type Handle = Callable[[Layer, events.Event], Iterator[commands.Command]]


def context() -> Context:
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), timestamp_start=0)
    return Context(client, options.Options())


class Scripted(Layer):
    """A layer that reads its commands from the data: `w` waits for an answer, anything else does not."""

    def _handle_event(self, event: events.Event) -> Iterator[commands.Command]:
        assert isinstance(event, events.DataReceived)
        for place, letter in enumerate(event.data.decode()):
            if letter == "w":
                yield HttpRequestHook(tflow.tflow())
            yield commands.Log(f"{event.data.decode()}:{place}")


def told(handle: Handle, script: list[str]) -> list[str]:
    """Tell a layer of data and of ended hooks (`!`); return what it said, in order."""
    layer = Scripted(context())
    said: list[str] = []
    waited: list[commands.StartHook] = []
    for piece in script:
        if piece == "!" and waited:
            event: events.Event = events.HookCompleted(waited.pop(0))
        else:
            event = events.DataReceived(layer.context.client, piece.encode())
        for command in handle(layer, event):
            if isinstance(command, commands.StartHook):
                waited.append(command)
                said.append(f"waits for the layer {command.blocking is layer}")
            elif isinstance(command, commands.Log):
                said.append(command.message)
    return said


@given(st.lists(st.sampled_from(["a", "w", "aw", "wa", "ww", "!"]), max_size=8))
def test_a_layer_says_what_it_says_in_the_engine(script: list[str]) -> None:
    assert told(routing.handle_event, script) == told(routing._engine_handles, script)


def test_a_layer_that_is_debugged_goes_the_engines_way() -> None:
    layer = Scripted(context())
    layer.debug = "  "
    event = events.DataReceived(layer.context.client, b"a")
    said = [each.message for each in routing.handle_event(layer, event)]  # type: ignore[attr-defined]
    assert len(said) > 1


def test_a_command_that_nobody_knows_is_an_error() -> None:
    class Odd(HttpCommand):
        """No command of the engine."""

    class Speaker(Layer):
        def _handle_event(self, event: events.Event) -> Iterator[commands.Command]:
            yield Odd()

    around = HttpLayer(context(), HTTPMode.regular)
    with pytest.raises(RuntimeError):
        list(routing.event_to_child(around, Speaker(around.context), events.Start()))
