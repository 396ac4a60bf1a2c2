"""Head and body of an HTTP/1 message leave together: one TLS record and one write, not two of each.

Only where the engine holds the whole body already and sends it right after the head, and where it is small:
a large one would be copied. What streams is sent as it comes, its head first. The bytes are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mitmproxy.http import Message
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http._events import HttpEvent, RequestHeaders, ResponseHeaders
from mitmproxy.proxy.layers.http._http1 import Http1Client, Http1Server

from ghost_addons import wrapping

JOINED_BYTES = 65_536

type Send = Callable[..., Iterator[commands.Command]]


def joined(send: Send) -> Send:
    """Wrap the step that sends the parts of a message: a head waits for the body that is there."""

    def send_joined(
        connection: Http1Client | Http1Server, event: HttpEvent
    ) -> Iterator[commands.Command]:
        waiting = vars(connection).pop("head_that_waits", b"")
        for command in send(connection, event):
            if not isinstance(command, commands.SendData):
                yield from _released(connection, waiting)
                waiting = b""
            elif _has_body(event):
                vars(connection)["head_that_waits"] = command.data
                continue
            elif waiting:
                command.data, waiting = waiting + command.data, b""
            yield command
        yield from _released(connection, waiting)

    return send_joined


def _has_body(event: HttpEvent) -> bool:
    """Tell whether this is a head whose whole body the engine sends next."""
    message: Message
    match event:
        case RequestHeaders(request=message, end_stream=False):
            pass
        case ResponseHeaders(response=message, end_stream=False):
            pass
        case _:
            return False
    return not message.stream and 0 < len(message.data.content or b"") <= JOINED_BYTES


def _released(connection: Http1Client | Http1Server, waiting: bytes) -> Iterator[commands.Command]:
    if waiting:
        yield commands.SendData(connection.conn, waiting)


def install() -> None:
    """Wrap the engine's own steps, once; others may have wrapped them before."""
    for owner in (Http1Client, Http1Server):
        wrapping.around(owner, "send", joined)
