"""The websocket of the upstream: echoes text and binary messages until either side closes.

Asked to `tell`, it says the Authorization value that it got: `tell frames` in two frames of one message,
`tell messages` in two messages.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage

from support.link import PIECE_BYTES, Link, Reader

if TYPE_CHECKING:
    from support.exchange import Record

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3


def accept(link: Link, reader: Reader, record: Record) -> None:
    """Take the upgrade and echo every message."""
    key = record.header("sec-websocket-key") or b""
    link.sock.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept_value(key) + b"\r\n\r\n"
    )
    frames = Connection(ConnectionType.SERVER, trailing_data=reader.rest)
    while True:
        for event in frames.events():
            if not _answer(link, frames, event, record):
                return
        try:
            piece = link.sock.recv(PIECE_BYTES)
        except OSError:
            return
        if not piece:
            return
        frames.receive_data(piece)


def accept_value(key: bytes) -> bytes:
    """Return the Sec-WebSocket-Accept value of a key, RFC 6455 section 4.2.2."""
    return base64.b64encode(hashlib.sha1(key + GUID, usedforsecurity=False).digest())


def _answer(link: Link, frames: Connection, event: Event, record: Record) -> bool:
    match event:
        case TextMessage() if event.data.startswith("tell"):
            for piece in _told(event.data, (record.header("authorization") or b"").decode()):
                link.sock.sendall(frames.send(piece))
        case TextMessage() | BytesMessage():
            link.count(len(event.data))
            link.sock.sendall(frames.send(replace(event)))
        case Ping() | CloseConnection():
            link.sock.sendall(frames.send(event.response()))
            return isinstance(event, Ping)
        case _:
            pass
    return True


def _told(how: str, value: str) -> list[TextMessage]:
    middle = len(value) // 2
    if how == "tell":
        return [TextMessage(value)]
    whole = how == "tell messages"
    return [TextMessage(value[:middle], message_finished=whole), TextMessage(value[middle:])]
