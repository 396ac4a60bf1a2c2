"""The MCP server of a test: its tools called by name, the official client in memory, raw lines over pipes.

call = Calls(service)
call("ghost_memory_save", project_id="app", content="…").data["id"]
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.server.lowlevel import Server

from ghost_core.settings_models import MemorySettings
from ghost_memory.server.answer import Answer
from ghost_memory.server.opening import Store as Opened
from ghost_memory.server.parts import Parts, plug
from ghost_memory.server.service import Caller, Service
from support.home import GhostHome
from support.memory import Store

ERAS = ("legacy", "auto")
"""The handshake of 2025-11-25, and `server/discover` of 2026-07-28."""

SECONDS = 60.0
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def opened_on(store: Store, parts: Parts | None = None) -> Opened:
    """Return an open memory as the server sees it; it stays open when the server closes it."""
    return Opened(store.recorder, store.clock, parts or plug(MemorySettings()), lambda: None)


def service_on(store: Store, parts: Parts | None = None) -> Service:
    """Return the service over an open memory."""
    opened = opened_on(store, parts)
    return Service(lambda: opened, store.clock)


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls tools as one client would."""

    service: Service
    caller: Caller = field(default_factory=lambda: Caller("test/1"))

    def __call__(self, tool: str, **arguments: object) -> Answer:
        """Call a tool that must succeed."""
        answer = self.service.call(tool, arguments, self.caller)
        assert not answer.failed, answer.text
        return answer

    def refused(self, tool: str, **arguments: object) -> str:
        """Call a tool that must fail; return what it says."""
        answer = self.service.call(tool, arguments, self.caller)
        assert answer.failed, answer.text
        return answer.text

    def save(self, content: str, project: str = "app", **more: object) -> str:
        """Save a memory and return its id."""
        arguments = {"project_id": project, "content": content, **more}
        return str(self("ghost_memory_save", **arguments).data["id"])


def in_memory[T](server: Server[Any], mode: str, work: Callable[[Client], Awaitable[T]]) -> T:
    """Run the official client against a server in this process."""

    async def run() -> T:
        with anyio.fail_after(SECONDS):
            async with Client(server, mode=mode) as client:
                return await work(client)

    return anyio.run(run)


def request(number: object, method: str, **params: object) -> dict[str, Any]:
    """Return a request of the handshake era."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def enveloped(number: object, method: str, **params: object) -> dict[str, Any]:
    """Return a request of 2026-07-28."""
    return request(number, method, **params, _meta=ENVELOPE)


def initialize(number: object = 0, version: str = "2025-11-25") -> dict[str, Any]:
    """Return the first request of a handshake."""
    info = {"name": "raw", "version": "1"}
    return request(number, "initialize", protocolVersion=version, capabilities={}, clientInfo=info)


def called(number: object, tool: str, **arguments: object) -> dict[str, Any]:
    """Return a call of a tool in the handshake era."""
    return request(number, "tools/call", name=tool, arguments=arguments)


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@dataclass(slots=True)
class Raw:
    """`ghost mcp` as a process, spoken to in lines; whatever it prints is kept."""

    process: subprocess.Popen[bytes]
    seen: list[bytes] = field(default_factory=list)
    _rest: bytes = b""

    def say(self, *messages: Mapping[str, Any] | bytes) -> None:
        """Write messages, or lines as they are."""
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self, seconds: float = SECONDS) -> dict[str, Any]:
        """Return the next message."""
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], until - time.monotonic())
            data = os.read(self.process.stdout.fileno(), 65_536) if ready else b""
            assert data, f"expected a message, found {self._rest!r}"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        self.seen.append(line)
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    def answers(self, *numbers: object) -> dict[object, dict[str, Any]]:
        """Wait for the answers of these requests, in any order; notifications are left out."""
        found: dict[object, dict[str, Any]] = {}
        while set(numbers) - found.keys():
            message = self.hear()
            if "method" not in message:
                found[message["id"]] = message
        return found

    def handshake(self, version: str = "2025-11-25") -> dict[str, Any]:
        """Initialize; return the result."""
        self.say(initialize(0, version))
        found = self.hear()
        self.say(INITIALIZED)
        result = found["result"]
        assert isinstance(result, dict)
        return result

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call one tool and return its result."""
        self.say(called("call", tool, **arguments))
        found = self.answers("call")["call"]["result"]
        assert isinstance(found, dict)
        return found

    def leave(self, seconds: float = SECONDS) -> tuple[int, float, str]:
        """Close our end; return the exit code, how long that took, and stderr."""
        began = time.monotonic()
        _, errors = self.process.communicate(timeout=seconds)
        return self.process.returncode, time.monotonic() - began, errors.decode()


def command(program: Sequence[str] = ()) -> list[str]:
    """Return the command of the server, or of a program that starts it."""
    return [sys.executable, *(program or ("-m", "ghost_cli", "mcp"))]


@contextmanager
def raw_server(
    home: GhostHome,
    *,
    program: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[Raw]:
    """Start `ghost mcp` on a home; it is gone at the end."""
    process = subprocess.Popen(
        command(program),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**home.env, **(env or {})},
        cwd=folder or home.root,
    )
    try:
        yield Raw(process)
    finally:
        process.kill()
        process.wait(SECONDS)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
