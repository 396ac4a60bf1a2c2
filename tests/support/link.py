"""One accepted connection, and the reader that keeps every byte it saw."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from support.exchange import Handler, Record, Sent

PIECE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Link:
    """An accepted connection with what the server wants to know about it."""

    sock: socket.socket
    number: int
    alpn: str | None
    sni: str | None
    stopping: threading.Event
    find: Callable[[str], Handler]
    record: Callable[[Record], None]
    note: Callable[[Sent], None]
    count: Callable[[int], None]

    def cut(self) -> None:
        """Drop the connection at once, also under a thread that reads from it."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self.sock.close()


class Reader:
    """Reads a socket up to a mark or a length; what came too early waits."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.rest = b""

    def until(self, mark: bytes) -> bytes:
        """Return bytes up to and with the mark; raises EOFError if the peer ended before."""
        while mark not in self.rest:
            self._more()
        end = self.rest.index(mark) + len(mark)
        taken, self.rest = self.rest[:end], self.rest[end:]
        return taken

    def some(self, limit: int) -> bytes:
        """Return at least one and at most `limit` bytes; raises EOFError at the end."""
        if not self.rest:
            self._more()
        taken, self.rest = self.rest[:limit], self.rest[limit:]
        return taken

    def exactly(self, size: int) -> bytes:
        """Return `size` bytes; raises EOFError if the peer ended before."""
        while len(self.rest) < size:
            self._more()
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def _more(self) -> None:
        piece = self._sock.recv(PIECE_BYTES)
        if not piece:
            raise EOFError
        self.rest += piece


def parse_headers(head: bytes) -> tuple[bytes, tuple[tuple[bytes, bytes], ...]]:
    """Split a head into its first line and its headers, without any normalisation of names."""
    first, *lines = head.split(b"\r\n\r\n", 1)[0].split(b"\r\n")
    pairs = (line.partition(b":") for line in lines)
    return first, tuple((name, value.strip(b" \t")) for name, _, value in pairs)
