"""A session's control socket for tests: an owner that answers for as long as something is done, raw lines.

serving(sid, echo, lambda: ask(sid, {"verb": "x"}, timeout=5))
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ghost_ledger.session.control_server import ControlServer, Handler
from ghost_ledger.session.messages import Message


def serving[T](sid: str, handler: Handler, action: Callable[[], T]) -> T:
    """Run the action in a thread while a server answers in this one's loop; return what it returned."""

    async def main() -> T:
        async with ControlServer(sid, handler):
            return await asyncio.wait_for(asyncio.to_thread(action), 5)

    return asyncio.run(main())


async def echo(request: Message) -> Message:
    """Answer with what was asked."""
    return {"echo": request}


def dial(root: Path, sid: str, channel: socket.socket) -> None:
    """Connect to the socket of a session, however long the path is."""
    channel.settimeout(5)
    descriptor = os.open(root / sid, os.O_RDONLY)
    channel.connect(f"/proc/self/fd/{descriptor}/control.sock")
    os.close(descriptor)


def lines(root: Path, sid: str, *sent: bytes) -> list[Any]:
    """Send raw lines over one connection and return the answers, until as many came or it was closed."""
    with socket.socket(socket.AF_UNIX) as channel:
        dial(root, sid, channel)
        channel.sendall(b"".join(sent))
        with channel.makefile("rb") as file:
            return [json.loads(line) for _ in sent if (line := file.readline())]
