"""How others ask a session's owner: JSON lines over `control.sock` (contract §3).

One request is one line, one object; so is the answer: `{"result": {…}}` or `{"error": {…}}`. Both
ends are processes of one user, checked by the kernel's peer credentials. A line is at most 16 MiB.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from ghost_core import errors
from ghost_core.errors import FailedError, GhostError, NotFoundError, UnavailableError, UsageError
from ghost_core.paths import runtime_dir
from ghost_ledger.session.runtime import SessionFolder

LINE_LIMIT_BYTES = 16 << 20
_PATH_LIMIT = 100
_CLIENTS = 64
_READ = 1 << 16

type Message = dict[str, object]
type Handler = Callable[[Message], Awaitable[Message]]

_KINDS = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, GhostError)
}


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
    line = _line(request)
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
                _connect(connection, folder, time.monotonic() + timeout)
        except BaseException:
            connection.close()
            raise
        return cls(sid, connection)

    def ask(self, request: Message, *, timeout: float) -> Message:
        """Send one request and return its answer; raises as the function `ask` does."""
        until = time.monotonic() + timeout
        return self.exchange(_line(request), until)

    def exchange(self, line: bytes, until: float) -> Message:
        """Send one line and return its answer; raises as `ask` does."""
        with _explained(self._sid):
            _limit(self._connection, until)
            self._connection.sendall(line)
            answer = _receive(self._connection, until, self._sid)
        return _unpack(answer, self._sid)

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


class ControlServer:
    """The owner's end: answers each line of each client through one handler, in a running loop."""

    def __init__(self, sid: str, handler: Handler, *, root: Path | None = None) -> None:
        self._folder = SessionFolder(sid, root or runtime_dir())
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._stopped = False

    async def start(self) -> None:
        """Bind the socket, 0600, and answer from now on; the socket of a dead owner is replaced.

        Raises:
            UnavailableError: code `session.owned`, a living process answers there;
                `session.socket`, it cannot be bound.
        """
        listener = _listen(self._folder)
        try:
            self._server = await asyncio.start_unix_server(
                self._accept, sock=listener, limit=LINE_LIMIT_BYTES
            )
        except BaseException:
            listener.close()
            raise

    async def stop(self) -> None:
        """Stop answering: the socket goes, clients in the middle of a request are cut.

        A handler may stop its own server; the client that asked for it still gets its answer.
        """
        if self._server is None:
            return
        server, self._server = self._server, None
        self._stopped = True
        server.close()
        self._folder.socket.unlink(missing_ok=True)
        others = self._clients - {asyncio.current_task()}
        for client in others:
            client.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not _same_user(writer.get_extra_info("socket")):
                return
            if len(self._clients) > _CLIENTS:
                await _send(writer, {"error": describe(_busy(self._folder.sid))})
                return
            while await self._exchange(reader, writer) and not self._stopped:
                pass
        except (ConnectionError, TimeoutError):
            return
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one line; False once the client is done or sent what no line may be."""
        try:
            line = await reader.readline()
        except ValueError:
            await _send(writer, {"error": describe(_too_long())})
            return False
        if not line.endswith(b"\n"):
            return False
        await _send(writer, await self._answer(line))
        return True

    async def _answer(self, line: bytes) -> Message:
        try:
            return {"result": await self._handler(_request(line))}
        except GhostError as error:
            return {"error": describe(error)}
        except Exception as error:  # noqa: BLE001  # a border: the client learns that it failed, the loop's handler why
            loop = asyncio.get_running_loop()
            loop.call_exception_handler({"message": "a control request failed", "exception": error})
            return {"error": describe(FailedError("the owner failed", code="control.failed"))}


def describe(error: GhostError) -> Message:
    """Return an error as it travels: contract §6's fields, and the kind that raises it again."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "exit_code": error.exit_code,
        "kind": type(error).__name__,
    }


def revive(described: Message) -> GhostError:
    """Return the error that was described: the same child, or the one with its exit code."""
    exit_code = described.get("exit_code")
    kind = _KINDS.get(str(described.get("kind"))) or next(
        (each for each in GhostError.__subclasses__() if each.exit_code == exit_code), FailedError
    )
    hint = described.get("hint")
    return kind(
        str(described.get("message", "the owner refused")),
        code=str(described.get("code", kind.default_code)),
        hint=hint if isinstance(hint, str) else None,
    )


def _line(message: Message) -> bytes:
    line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    if len(line) > LINE_LIMIT_BYTES:
        raise _too_long()
    return line


async def _send(writer: asyncio.StreamWriter, answer: Message) -> None:
    try:
        line = _line(answer)
    except GhostError as error:
        line = _line({"error": describe(error)})
    writer.write(line)
    await writer.drain()


def _request(line: bytes) -> Message:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("control request: not a line of JSON", code="control.malformed") from error
    if not isinstance(request, dict):
        raise UsageError("control request: expected one JSON object", code="control.malformed")
    return request


def _unpack(line: bytes, sid: str) -> Message:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _lost(sid) from error
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        raise revive(answer["error"])
    if not isinstance(answer, dict) or not isinstance(answer.get("result"), dict):
        raise _lost(sid)
    result: Message = answer["result"]
    return result


@contextmanager
def _short(folder: SessionFolder) -> Iterator[str]:
    """Give the socket's address in AF_UNIX's 108 bytes: a long path goes through a descriptor."""
    path = str(folder.socket)
    if len(os.fsencode(path)) <= _PATH_LIMIT or sys.platform != "linux":
        yield path
        return
    descriptor = folder.open()
    try:
        yield f"/proc/self/fd/{descriptor}/{folder.socket.name}"
    finally:
        os.close(descriptor)


def _connect(channel: socket.socket, folder: SessionFolder, until: float) -> None:
    _limit(channel, until)
    try:
        with _short(folder) as address:
            channel.connect(address)
    except (FileNotFoundError, ConnectionRefusedError, NotFoundError) as error:
        raise _no_owner(folder.sid) from error
    if not _same_user(channel):
        raise _no_owner(folder.sid)


def _limit(channel: socket.socket, until: float) -> None:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    channel.settimeout(left)


def _receive(channel: socket.socket, until: float, sid: str) -> bytes:
    answer = bytearray()
    while not answer.endswith(b"\n"):
        _limit(channel, until)
        part = channel.recv(_READ)
        answer += part
        if not part or len(answer) > LINE_LIMIT_BYTES:
            raise _lost(sid)
    return bytes(answer)


def _listen(folder: SessionFolder) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short(folder) as address:
            _clear(folder, address)
            os.fchmod(listener.fileno(), 0o600)
            listener.bind(address)
        folder.socket.chmod(0o600)
        listener.listen(_CLIENTS)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise UnavailableError(
            f"session {folder.sid}: its control socket cannot be bound, {error.strerror or error}",
            code="session.socket",
            hint="set XDG_RUNTIME_DIR to a shorter path that you own",
        ) from error
    except GhostError:
        listener.close()
        raise
    return listener


def _clear(folder: SessionFolder, address: str) -> None:
    """Remove the socket that a dead owner left; one that answers is somebody's."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(address)
        except FileNotFoundError:
            return
        except ConnectionRefusedError:
            folder.socket.unlink(missing_ok=True)
            return
        except BlockingIOError:
            pass
    raise UnavailableError(
        f"session {folder.sid}: another process answers on its control socket",
        code="session.owned",
        hint=f"ghost session show {folder.sid}",
    )


def _same_user(channel: socket.socket) -> bool:
    """Ask the kernel who is at the other end; where it cannot say, the folder's 0700 has to do."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", channel.getsockopt(socket.SOL_SOCKET, option, size))
    return bool(uid == os.geteuid())


def _no_owner(sid: str) -> NotFoundError:
    return NotFoundError(
        f"session {sid}: no process owns it",
        code="session.no_owner",
        hint=f"ghost possess --session-id {sid}",
    )


def _lost(sid: str) -> UnavailableError:
    return UnavailableError(
        f"session {sid}: its owner went away before it had answered",
        code="session.owner_lost",
        hint=f"ghost session show {sid}",
    )


def _busy(sid: str) -> UnavailableError:
    return UnavailableError(
        f"session {sid}: its owner has {_CLIENTS} clients already", code="session.owner_busy"
    )


def _too_long() -> UsageError:
    return UsageError(
        f"control message: over the limit of {LINE_LIMIT_BYTES} bytes", code="control.too_long"
    )
