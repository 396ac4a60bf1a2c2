"""Inside an open CONNECT tunnel, events go to its own layers at once, past the HTTP layers around it.

The outer layers wrap each piece of data into an HTTP message, hand it down and unwrap it, and back
again. Nothing is decided there once the tunnel is open; it is a sixth of the engine's work for a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.connection import Client, ConnectionState
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import http
from mitmproxy.proxy.layers.http._http1 import Http1Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mitmproxy.proxy.server import ConnectionHandler


class Pipe:
    """Stands for the outer layers of an open tunnel."""

    __slots__ = ("_client", "_inside", "context")

    def __init__(self, inside: layer.Layer, client: Client) -> None:
        self.context = inside.context
        self._inside = inside
        self._client = client

    def handle_event(self, event: events.Event) -> Iterator[commands.Command]:
        """Pass an event in and commands out; what closes, closes both ways, as the outer layers have it."""
        for command in self._inside.handle_event(event):
            if not isinstance(command, commands.CloseConnection):
                yield command
            elif command.connection != self._client or _writable(self._client):
                yield commands.CloseConnection(command.connection)


def take(handler: ConnectionHandler, event: events.Event) -> bool:
    """Take the shortcut from this event on, if the tunnel is open and its outer layers wait for nothing."""
    if not isinstance(event, events.DataReceived):
        return False
    inside = _inside(handler.layer.context.layers, handler.client)
    if inside is None:
        return False
    vars(handler)["layer"] = Pipe(inside, handler.client)  # of a layer, only this is used
    return True


def _inside(layers: list[layer.Layer], client: Client) -> layer.Layer | None:
    outer = layers[1] if len(layers) > 1 else None
    if type(outer) is not http.HttpLayer or outer.command_sources or len(outer.streams) != 1:
        return None
    door = outer.connections.get(client)
    if not isinstance(door, Http1Server) or door.state != door.passthrough or door.buf:
        return None
    (stream,) = outer.streams.values()
    waits = any(each._paused or each._paused_event_queue for each in (outer, door, stream))  # noqa: SLF001
    if waits or stream._handle_event != stream.passthrough:  # noqa: SLF001
        return None
    inside = stream.child_layer
    if isinstance(inside, layer.NextLayer):
        inside = inside.layer
    return inside


def _writable(client: Client) -> bool:
    return bool(client.state & ConnectionState.CAN_WRITE)
