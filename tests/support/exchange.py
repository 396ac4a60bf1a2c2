"""What an upstream saw and how a route answers it, the same for HTTP/1.1 and HTTP/2."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    import threading

type Headers = Sequence[tuple[str, str]]

WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Record:
    """One request as it arrived: raw bytes, in order, names in the client's spelling.

    In HTTP/2 the headers hold the pseudo headers too and `head` is empty. `complete` is False if
    the client went away inside the body. `at` is the monotonic time in seconds of the head.
    """

    method: bytes
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    connection: int
    alpn: str | None
    sni: str | None
    head: bytes
    at: float
    complete: bool = True

    @property
    def path(self) -> str:
        """The target without its query."""
        return urlsplit(self.target.decode("latin-1")).path

    def header(self, name: str) -> bytes | None:
        """Return the first value of a header, any spelling."""
        return next(iter(self.all(name)), None)

    def all(self, name: str) -> tuple[bytes, ...]:
        """Every value of a header, in order."""
        wanted = name.lower().encode()
        return tuple(value for key, value in self.headers if key.lower() == wanted)

    def query(self, name: str, default: str = "") -> str:
        """Return the last value of a query parameter."""
        query = parse_qs(urlsplit(self.target.decode("latin-1")).query)
        return query.get(name, [default])[-1]


@dataclass(frozen=True, slots=True)
class Sent:
    """A piece that a streaming route has written, with its monotonic time in seconds."""

    path: str
    data: bytes
    at: float


class Exchange(ABC):
    """One request and its answer; a route calls `reply`, or `start`, `send` and `finish`."""

    def __init__(
        self, record: Record, *, stopping: threading.Event, note: Callable[[Sent], None]
    ) -> None:
        self.record = record
        self._stopping = stopping
        self._note = note

    @abstractmethod
    def start(self, status: int, headers: Headers = (), *, length: int | None = None) -> None:
        """Send the head; without a length the body is chunked (HTTP/1.1)."""

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Send a piece of the body at once."""

    @abstractmethod
    def finish(self) -> None:
        """End the body."""

    @abstractmethod
    def abort(self) -> None:
        """Cut the connection without a further byte."""

    def reply(self, status: int, body: bytes = b"", headers: Headers = ()) -> None:
        """Answer with a body of known length."""
        self.start(status, headers, length=len(body))
        if body:
            self.send(body)
        self.finish()

    def pause(self, seconds: float) -> None:
        """Wait, but never after the upstream has been told to stop."""
        self._stopping.wait(min(seconds, 60.0))

    def emit(self, data: bytes) -> None:
        """Send a piece and note when it was sent."""
        self._note(Sent(self.record.path, data, time.monotonic()))
        self.send(data)


type Handler = Callable[[Exchange], None]
