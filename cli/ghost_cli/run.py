"""`ghost run -- CMD`: a session, a proxy and an environment for one command, sealed at its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output
from ghost_cli.sessions import Opened
from ghost_core.clock import SystemClock
from ghost_core.errors import GhostError, UsageError

OWN_FAILURE, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127
_ISOLATION = ("enforced", "partial", "advisory")


def run(  # noqa: PLR0913  # one parameter per option
    command: Annotated[list[str], typer.Argument(help="Command and its arguments, after --.")],
    *,
    intent: Annotated[str, typer.Option(help="Why; default: the command's name.")] = "",
    scope: Annotated[list[str] | None, typer.Option(help="Scope; repeatable.")] = None,
    ttl: Annotated[int, typer.Option(help="Lifetime in seconds; 0 = session.ttl_seconds.")] = 0,
    isolation: Annotated[str, typer.Option(help="advisory in this version.")] = "advisory",
) -> int:
    """Run a command inside a session of its own and return its exit code.

    Example: ghost run --scope stripe -- python agent.py
    """
    try:
        _check_isolation(isolation)
        opened = Opened.now()
        from ghost_addons import master

        output.note("isolation: advisory, a client that ignores its environment is not stopped")
        words = dict(intent=intent or f"run {Path(command[0]).name}", ttl=ttl)
        return master.run(_program(opened, command, tuple(scope or ()), **words))
    except UsageError:
        raise
    except GhostError as error:
        output.failure(error)
        return OWN_FAILURE


def _check_isolation(isolation: str) -> None:
    if isolation not in _ISOLATION:
        raise UsageError(
            f"isolation {isolation!r}: expected {', '.join(_ISOLATION)}", code="usage.isolation"
        )
    if isolation != "advisory":
        raise GhostError(
            f"isolation {isolation!r}: not available in this version, nothing was started",
            code="run.isolation",
            hint="ghost run --isolation advisory",
        )


async def _program(
    opened: Opened, command: list[str], scopes: tuple[str, ...], *, intent: str, ttl: int
) -> int:
    from ghost_addons.proxy import Proxy
    from ghost_cli import environment
    from ghost_cli.spawn import spawned

    with tempfile.TemporaryDirectory(prefix="ghost-run-") as folder:
        proxy = Proxy.open(opened.home, ca_folder=Path(folder))
        try:
            port = await proxy.start("127.0.0.1", 0)
            made = spawned(
                proxy.services.recorder,
                opened.home,
                opened.settings,
                intent=intent,
                ttl=ttl or opened.settings.session.ttl_seconds,
                scopes=scopes,
                persist=False,
                clock=SystemClock(),
            )
            session = proxy.admit(made.session_id, custody=made.custody)
            url = f"http://{made.session_id}:{made.token.reveal().decode()}@localhost:{port}"
            block = environment.made_of(
                opened.home, opened.settings, made.session_id, url=url, authority=proxy.authority
            )
            try:
                return await _child(command, block.over())
            finally:
                if session in proxy.services.sessions.live:
                    await proxy.evaporate(session, grace_seconds=1, reason="exit")
                output.note(f"sealed: ghost replay --session-id {made.session_id}")
        finally:
            await proxy.stop(grace_seconds=0)


async def _child(command: list[str], environment: dict[str, str]) -> int:
    """Run the command on our own terminal; signals that reach us are passed on."""
    try:
        child = await asyncio.create_subprocess_exec(*command, env=environment)
    except FileNotFoundError:
        output.note(f"{command[0]}: not found")
        return NOT_FOUND
    except (PermissionError, OSError) as error:
        output.note(f"{command[0]}: cannot be executed, {error.strerror}")
        return NOT_EXECUTABLE
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, _pass_on, child, number)
    code = await child.wait()
    return code if code >= 0 else 128 - code


def _pass_on(child: asyncio.subprocess.Process, number: int) -> None:
    if child.returncode is None and not (number == signal.SIGINT and sys.stdin.isatty()):
        os.kill(child.pid, number)
