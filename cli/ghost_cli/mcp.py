"""`ghost mcp`: memory as an MCP server; its words are read by hand, as nothing may delay the first answer."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ghost_cli import inside, output, streams
from ghost_core.errors import UsageError

if TYPE_CHECKING:  # loading the store takes as long as the rest of the start
    from ghost_memory.server.opening import Store

PORT: Final = 9998
SCHEMA: Final = "ghost/mcp/v1"
HELP: Final = f"""\
Usage: ghost mcp [--http] [--port PORT]

  Serve memory to an agent over the Model Context Protocol, on stdin and stdout.

  Hosts start this by themselves once it is registered. It speaks 2026-07-28 and
  the versions with a handshake, 2024-11-05 to 2025-11-25. It ends when the host
  closes its end.

  --http       serve on loopback over Streamable HTTP instead, until interrupted
  --port PORT  the port of --http, 0 for any free one; {PORT} without it

  Example: claude mcp add --scope user ghost -- ghost mcp
"""


def mcp(words: list[str]) -> int:
    """Serve until the client leaves."""
    if {"--help", "-h"} & set(words):
        from ghost_cli.commands import FLAGS

        output.lines(f"{HELP}\n{FLAGS}")
        return 0
    port = _port(words)
    session = inside.session()
    if port is None:
        return _stdio(session)
    from ghost_memory.server import start

    start.on_loopback(partial(_open, None), port, _say, session=session)
    return 0


def _stdio(session: str) -> int:
    from ghost_memory.server.streams import taken

    if sys.stdin.isatty():
        output.note(
            "serving MCP on this terminal; a host starts this by itself, see ghost mcp --help"
        )
    with taken() as streams:
        from ghost_memory.server import start

        start.on_stdio(partial(_open, _folder()), streams, session=session)
    return 0


def _folder() -> Path | None:
    """Return where the host started us, if it is still there."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _open(folder: Path | None) -> Store:
    """Open the store of this home; runs in a thread, at the first call."""
    from contextlib import ExitStack

    from ghost_cli.sessions import Opened
    from ghost_core.clock import SystemClock
    from ghost_credentials.references import SecretSource
    from ghost_memory.sense import Sense
    from ghost_memory.server.opening import Store
    from ghost_memory.server.parts import plug

    opened, clock = Opened.now(), SystemClock()
    with ExitStack() as held:
        recorder = held.enter_context(opened.recorder(with_memory=True))
        secrets = SecretSource(opened.home, recorder.engine)
        sense = Sense.open(opened.settings, recorder.engine, clock, secrets.resolve)
        closing = held.pop_all().close
    return Store(recorder, clock, plug(opened.settings.memory, sense), closing, folder)


def _say(address: str) -> None:
    output.result({"schema": SCHEMA, "url": address}, f"Serving memory on {address}")
    streams.flush()


def _port(words: list[str]) -> int | None:
    """Return the port to serve on, None for stdio."""
    rest = list(words)
    http = _flag(rest, "--http")
    named = _option(rest, "--port")
    if rest:
        raise _wrong(f"takes no argument {rest[0]!r}")
    if named is None:
        return PORT if http else None
    if not http:
        raise _wrong("--port needs --http")
    if not (named.isascii() and named.isdigit() and int(named) < 65_536):
        raise _wrong(f"--port: expected 0 to 65535, found {named[:40]!r}")
    return int(named)


def _flag(words: list[str], name: str) -> bool:
    found = name in words
    words[:] = [word for word in words if word != name]
    return found


def _option(words: list[str], name: str) -> str | None:
    for number, word in enumerate(words):
        if word.startswith(f"{name}="):
            del words[number]
            return word.partition("=")[2]
        if word == name:
            found = words[number + 1 : number + 2]
            del words[number : number + 2]
            if not found:
                raise _wrong(f"{name}: expected a value")
            return found[0]
    return None


def _wrong(what: str) -> UsageError:
    return UsageError(f"mcp: {what}", code="usage.arguments", hint="ghost mcp --help")
