"""How others ask a session's owner over `control.sock` (contract §3). Both ends are processes of one user."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from ghost_core.errors import UnavailableError
from ghost_core.paths import runtime_dir
from ghost_ledger.session.control_socket import connect, limit
from ghost_ledger.session.messages import LINE_LIMIT_BYTES, Message, line_of, result_in
from ghost_ledger.session.runtime import SessionFolder

_READ = 1 << 16


def ask(sid: str, request: Message, *, timeout: float, root: Path | None = None) -> Message:
    """Send one request to the session's owner and return its answer.

    `timeout` is in seconds and holds for all of it.

    Raises:
        NotFoundError: code `session.no_owner`, nobody answers for the session.
        UnavailableError: code `session.owner_silent`, no answer in time; `session.owner_lost`, it
            went away or answered what is no answer.
        GhostError: whatever the owner refused with, as the same child, code and hint.
    """
    until = time.monotonic() + timeout
    line = line_of(request)
    with Channel.open(sid, timeout=timeout, root=root) as channel:
        return channel.exchange(line, until)


class Channel:
    """One connection to a session's owner, for requests one after the other; useless after an error."""

    def __init__(self, sid: str, connection: socket.socket) -> None:
        self._sid = sid
        self._connection = connection

    @classmethod
    def open(cls, sid: str, *, timeout: float, root: Path | None = None) -> Self:
        """Connect to the owner; raises as `ask` does."""
        folder = SessionFolder(sid, root or runtime_dir())
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with _explained(sid):
                connect(connection, folder, time.monotonic() + timeout)
        except BaseException:
            connection.close()
            raise
        return cls(sid, connection)

    def ask(self, request: Message, *, timeout: float) -> Message:
        """Send one request and return its answer; raises as the function `ask` does."""
        until = time.monotonic() + timeout
        return self.exchange(line_of(request), until)

    def exchange(self, line: bytes, until: float) -> Message:
        """Send one line and return its answer; raises as `ask` does."""
        with _explained(self._sid):
            limit(self._connection, until)
            self._connection.sendall(line)
            answer = _receive(self._connection, until, self._sid)
        result = result_in(answer)
        if result is None:
            raise _lost(self._sid)
        return result

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _explained(sid: str) -> Iterator[None]:
    """Say of a failed exchange whether the owner was silent or went away."""
    try:
        yield
    except TimeoutError as error:
        raise UnavailableError(
            f"session {sid}: its owner did not answer in time",
            code="session.owner_silent",
            hint=f"ghost session show {sid}",
        ) from error
    except OSError as error:
        raise _lost(sid) from error


def _receive(channel: socket.socket, until: float, sid: str) -> bytes:
    answer = bytearray()
    while not answer.endswith(b"\n"):
        limit(channel, until)
        part = channel.recv(_READ)
        answer += part
        if not part or len(answer) > LINE_LIMIT_BYTES:
            raise _lost(sid)
    return bytes(answer)


def _lost(sid: str) -> UnavailableError:
    return UnavailableError(
        f"session {sid}: its owner went away before it had answered",
        code="session.owner_lost",
        hint=f"ghost session show {sid}",
    )
