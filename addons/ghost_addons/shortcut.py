"""Inside an open CONNECT tunnel, events go to its own layers at once, past the HTTP layers around it.

The outer layers wrap each piece of data into an HTTP message, hand it down and unwrap it, and back
again. Nothing is decided there once the tunnel is open; it is a sixth of the engine's work for a call.
The layer for TLS to an upstream that was dialled before the client spoke is passed by as well: we
never dial that early, and what would use its connection after all ends in an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.connection import Client, Connection, ConnectionState
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import http
from mitmproxy.proxy.layers.http._http1 import Http1Server
from mitmproxy.proxy.layers.tls import ServerTLSLayer
from mitmproxy.proxy.tunnel import TunnelState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mitmproxy.proxy.server import ConnectionHandler


class Pipe:
    """Stands for the outer layers of an open tunnel."""

    __slots__ = ("_client", "_inside", "_unused", "context")

    def __init__(self, inside: layer.Layer, client: Client) -> None:
        self.context = inside.context
        self._unused: Connection | None = None
        if isinstance(inside, ServerTLSLayer) and _is_idle(inside):
            self._unused = inside.conn
            inside = inside.child_layer
        self._inside = inside
        self._client = client

    def handle_event(self, event: events.Event) -> Iterator[commands.Command]:
        """Pass an event in and commands out; what closes, closes both ways, as the outer layers have it."""
        for command in self._inside.handle_event(event):
            if self._unused is not None and _uses(command, self._unused):
                raise RuntimeError("an upstream that was never dialled is used")
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


def _is_idle(outer: ServerTLSLayer) -> bool:
    """Tell whether the layer's upstream was never dialled."""
    closed = outer.conn.state is ConnectionState.CLOSED
    return closed and outer.tunnel_state is TunnelState.INACTIVE


def _uses(command: commands.Command, connection: Connection) -> bool:
    if not isinstance(command, commands.SendData | commands.OpenConnection):
        return False
    return command.connection is connection


def _writable(client: Client) -> bool:
    return bool(client.state & ConnectionState.CAN_WRITE)
