"""How events and commands travel through the engine's layers: the loops that all of them pass.

They do what the engine's do, without its debug texts and with a generator less where it only hands on.
A layer that waits for an answer goes the engine's own way.
"""

from __future__ import annotations

from collections.abc import Iterator

from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layer import Layer, Paused
from mitmproxy.proxy.layers.http import (
    DropStream,
    GetHttpConnection,
    HttpLayer,
    RegisterHttpConnection,
    SendHttp,
)
from mitmproxy.proxy.layers.http._base import HttpCommand, ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestHeaders
from mitmproxy.proxy.tunnel import TunnelLayer, TunnelState

type Commands = Iterator[commands.Command]

_engine_handles = Layer.handle_event


def handle_event(self: Layer, event: events.Event) -> Commands:
    """Hand an event to a layer and yield its commands, up to one that it waits for."""
    if self._paused or self.debug is not None:  # we stand in for its method
        yield from _engine_handles(self, event)
        return
    steps = self._handle_event(event)
    for command in steps:
        if command.blocking is True:
            # Only this layer waits: the layers above see its name there and go on.
            command.blocking = self
            self._paused = Paused(command, steps)
            yield command
            return
        yield command


def event_through(self: TunnelLayer, event: events.Event) -> Commands:
    """Hand an event to the layer inside a tunnel; only what is about the tunnel itself is looked at."""
    if self.tunnel_state is TunnelState.ESTABLISHING and not self.command_to_reply_to:
        self._event_queue.append(event)
        return
    ours = self.conn
    for command in self.child_layer.handle_event(event):
        if isinstance(command, commands.ConnectionCommand) and command.connection == ours:
            yield from self._handle_command(command)
        else:
            yield command


def event_to_child(self: HttpLayer, child: Layer, event: events.Event) -> Commands:
    """Hand an event to a connection or stream, and route what it says to the others."""
    for command in child.handle_event(event):
        if command.blocking or isinstance(command, commands.RequestWakeup):
            self.command_sources[command] = child  # its answer goes back there
        if not isinstance(command, HttpCommand):
            if isinstance(command, commands.OpenConnection):
                self.connections[command.connection] = child
            yield command
        elif isinstance(command, ReceiveHttp):
            yield from _receive(self, command)
        elif isinstance(command, SendHttp):
            yield from event_to_child(self, self.connections[command.connection], command.event)
        else:
            yield from _attend(self, command)


def _receive(self: HttpLayer, command: ReceiveHttp) -> Commands:
    told = command.event
    if isinstance(told, RequestHeaders):
        yield from self.make_stream(told.stream_id)
    stream = self.streams.get(told.stream_id)
    if stream is not None:  # else it is done with, and the rest of its data comes too late
        yield from event_to_child(self, stream, told)


def _attend(self: HttpLayer, command: HttpCommand) -> Commands:
    match command:
        case DropStream():
            self.streams.pop(command.stream_id, None)
        case GetHttpConnection():
            yield from self.get_connection(command)
        case RegisterHttpConnection():
            yield from self.register_connection(command)
        case _:
            raise RuntimeError(f"unexpected command: {type(command).__name__}")
