"""One connection of the load client, and the tests for "the answer is complete"."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import override

TIMEOUT_SECONDS = 60.0
END = b"\r\n\r\n"
LENGTH = b"content-length:"

type Whole = Callable[[bytearray], bool]


class Lane(asyncio.Protocol):
    """Sends bytes and waits until the answer is complete; one exchange at a time."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[bytes] | None = None
        self._whole: Whole = head_complete

    @override
    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self._waiter and not self._waiter.done() and self._whole(self.buffer):
            self._waiter.set_result(bytes(self.buffer))
            self.buffer.clear()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_exception(exc or ConnectionResetError("closed"))

    async def exchange(self, data: bytes, whole: Whole) -> bytes:
        """Send, and return the complete answer; raises OSError, TimeoutError after 60 s."""
        if self.transport is None:
            raise ConnectionResetError("not connected")
        self._whole = whole
        self._waiter = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return await asyncio.wait_for(self._waiter, TIMEOUT_SECONDS)


def head_complete(buffer: bytearray) -> bool:
    """Tell whether a head has arrived."""
    return END in buffer


def answer_complete(buffer: bytearray) -> bool:
    """Tell whether head and body of an answer have arrived, by length or by the last chunk."""
    end = buffer.find(END)
    if end < 0:
        return False
    head = bytes(buffer[:end]).lower()
    mark = head.find(LENGTH)
    if mark >= 0:
        size = int(head[mark + len(LENGTH) :].split(b"\r\n", 1)[0])
        return len(buffer) - end - len(END) >= size
    return buffer.endswith(b"0\r\n\r\n")


def event_complete(buffer: bytearray) -> bool:
    """Tell whether the first event of a stream has arrived."""
    return b"data:" in buffer and buffer.find(b"\n\n", buffer.find(b"data:")) > 0
