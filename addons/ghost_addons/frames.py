"""What a websocket carries beside its messages: pings, close reasons, messages that do not end.

The engine has no hook for them and hands them on as they are, so an upstream could write a secret into
each. Here no such byte crosses: a ping goes on under a number of ours and its sender gets its own payload
back, a close keeps its code and loses its reason (RFC 6455 §5.5), an unfinished message has a limit.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, override

from mitmproxy.proxy import commands
from mitmproxy.proxy.layers import websocket
from wsproto.events import CloseConnection, Event, Message, Ping, Pong

from ghost_core.errors import FailedError

MESSAGE_BYTES = 16_777_216
"""How long a message may be; the engine keeps each until it is complete."""
MESSAGE_TOO_BIG = 1009
_FRAGMENT_BYTES = 64  # what a fragment costs beside its bytes
_PINGS_KEPT = 32


class CleanConnection(websocket.WebsocketConnection):
    """One side of a websocket, as the engine sees it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._asked: dict[bytes, bytes] = {}
        self._pings = 0
        self._unfinished_bytes = 0

    @override
    def send2(self, event: Event) -> commands.SendData:
        """Send to this side; a ping of the other side goes under a number of ours."""
        if isinstance(event, Ping):
            event = Ping(payload=self._numbered(bytes(event.payload)))
        sent: commands.SendData = super().send2(event)
        return sent

    @override
    def events(self) -> Generator[Event, None, None]:
        """Yield what this side sent, without a byte that nobody scrubs."""
        for event in super().events():
            match event:
                case Pong():
                    yield Pong(payload=self._answered(bytes(event.payload)))
                case CloseConnection():
                    yield replace(event, reason=None)
                case Message() if self._is_too_long(event):
                    self.frame_buf = [b""]
                    yield CloseConnection(code=MESSAGE_TOO_BIG)
                    return
                case _:
                    yield event

    def _numbered(self, payload: bytes) -> bytes:
        """Return the number to ask this side under, and keep the payload that the other side used."""
        self._pings += 1
        if len(self._asked) >= _PINGS_KEPT:
            del self._asked[next(iter(self._asked))]
        number = b"%d" % self._pings
        self._asked[number] = payload
        return number

    def _answered(self, number: bytes) -> bytes:
        """Return the payload that a number stands for; an answer settles all before it (§5.5.3)."""
        payload = self._asked.get(number)
        if payload is None:
            return b""
        while number in self._asked:
            del self._asked[next(iter(self._asked))]
        return payload

    def _is_too_long(self, message: Message[Any]) -> bool:
        piece = message.data
        size = len(piece.encode() if isinstance(piece, str) else piece)
        self._unfinished_bytes += size + (_FRAGMENT_BYTES if message.frame_finished else 0)
        too_long = self._unfinished_bytes > MESSAGE_BYTES
        if message.message_finished:
            self._unfinished_bytes = 0
        return too_long


def install() -> None:
    """Let the engine use our connection in the place of its own."""
    if not hasattr(websocket, "WebsocketConnection"):
        raise FailedError("the engine has no websocket connection any more", code="proxy.engine")
    setattr(websocket, "WebsocketConnection", CleanConnection)  # noqa: B010  # it is not ours to assign
