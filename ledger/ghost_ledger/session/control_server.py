"""The end of `control.sock` that answers: the session's owner (contract §3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Self

from ghost_core.errors import FailedError, GhostError, UnavailableError
from ghost_core.paths import runtime_dir
from ghost_ledger.session import messages
from ghost_ledger.session.control_socket import CLIENTS, listen, same_user
from ghost_ledger.session.messages import LINE_LIMIT_BYTES, Message, describe, too_long
from ghost_ledger.session.runtime import SessionFolder

type Handler = Callable[[Message], Awaitable[Message]]


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
        listener = listen(self._folder)
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
            if not same_user(writer.get_extra_info("socket")):
                return
            if len(self._clients) > CLIENTS:
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
            await _send(writer, {"error": describe(too_long())})
            return False
        if not line.endswith(b"\n"):
            return False
        await _send(writer, await self._answer(line))
        return True

    async def _answer(self, line: bytes) -> Message:
        try:
            return {"result": await self._handler(messages.request_in(line))}
        except GhostError as error:
            return {"error": describe(error)}
        except Exception as error:  # noqa: BLE001  # a border: the client learns that it failed, the loop's handler why
            loop = asyncio.get_running_loop()
            loop.call_exception_handler({"message": "a control request failed", "exception": error})
            return {"error": describe(FailedError("the owner failed", code="control.failed"))}


async def _send(writer: asyncio.StreamWriter, answer: Message) -> None:
    try:
        line = messages.line_of(answer)
    except GhostError as error:
        line = messages.line_of({"error": describe(error)})
    writer.write(line)
    await writer.drain()


def _busy(sid: str) -> UnavailableError:
    return UnavailableError(
        f"session {sid}: its owner has {CLIENTS} clients already", code="session.owner_busy"
    )
