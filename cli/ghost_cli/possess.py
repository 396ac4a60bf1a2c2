"""`ghost possess`: the proxy that agents call through, in the foreground or detached."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output, running
from ghost_core import settings as configuration
from ghost_core.errors import FailedError, UsageError
from ghost_core.paths import home as ghost_home
from ghost_core.settings import Settings

START_SECONDS = 20.0
READY = "Ready for ghost act"
INTERRUPTED = 130


def possess(  # noqa: PLR0913  # one parameter per option
    *,
    session_id: Annotated[
        str, typer.Option(help="Session of clients that present nothing.", envvar="GHOST_SESSION_ID")
    ] = "",
    agent: Annotated[str, typer.Option(help="Agent URL, such as openai://gpt-5.")] = "",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = -1,
    verbose: Annotated[bool, typer.Option("--verbose", help="Enter reads too.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Go on in the background.")] = False,
    bare: Annotated[
        bool, typer.Option("--bare/--no-bare", help="Serve our own user without credentials.")
    ] = True,
    env: Annotated[bool, typer.Option("--env", help="Print the environment block, exit.")] = False,
    shell: Annotated[str, typer.Option(help="sh, fish, powershell, json or dotenv.")] = "sh",
    stop: Annotated[bool, typer.Option("--stop", help="Drain and stop a running one.")] = False,
) -> int:
    """Start the proxy that agents call through.

    Example: ghost possess --session-id gh_… --detach
    """
    overrides: dict[str, object] = {}
    if verbose:
        overrides["proxy.record"] = "all"
    if host:
        overrides["proxy.host"] = host
    if port >= 0:
        overrides["proxy.port"] = port
    settings = configuration.load(overrides=overrides)
    if stop:
        return running.stop(port if port >= 0 else None)
    if env:
        return _print_env(settings, session_id, shell)
    profile = _profile(agent)
    if detach:
        return _detach(settings)
    return _serve(settings, overrides, session_id if bare else "", session_id, profile)


def _profile(agent: str) -> str:
    from ghost_agents import profile

    return profile.parse(agent).url if agent else ""


def _print_env(settings: Settings, session_id: str, shell: str) -> int:
    if not session_id:
        raise UsageError("--env: expected --session-id", hint="ghost session list")
    from ghost_agents import shells
    from ghost_cli import environment

    block = environment.of_session(
        ghost_home(), settings, session_id, port=running.port_of(settings.proxy.port)
    )
    output.raw(shells.render(block, shells.parse_shell(shell)).encode())
    return 0


def _serve(
    settings: Settings, overrides: dict[str, object], bare: str, session_id: str, agent: str
) -> int:
    from ghost_addons import master
    from ghost_addons.proxy import Proxy

    for name in ("SSLKEYLOGFILE", "MITMPROXY_SSLKEYLOGFILE"):
        os.environ.pop(name, None)  # the engine would write every session key to that file

    async def program() -> int:
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        proxy = Proxy.open(ghost_home(), lambda: configuration.load(overrides=overrides))
        port = await proxy.start(settings.proxy.host, settings.proxy.port)
        try:
            if session_id:
                proxy.admit(session_id)
            proxy.services.sessions.bare = bare
            with running.announced(port):
                _listen_for_signals(ended)
                _announce(settings.proxy.host, port, session_id, agent)
                return await ended
        finally:
            await proxy.stop()

    return master.run(program())


def _listen_for_signals(ended: asyncio.Future[int]) -> None:
    loop = asyncio.get_running_loop()

    def end(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    loop.add_signal_handler(signal.SIGTERM, end, 0)
    loop.add_signal_handler(signal.SIGINT, end, INTERRUPTED)


def _announce(host: str, port: int, session_id: str, agent: str) -> None:
    lines = (
        f"Proxy active on {host}:{port}",
        f"Forwarding to agent: {agent or 'any'}",
        f"Session: {session_id or 'any (clients authenticate)'}",
        READY,
    )
    document: dict[str, object] = {
        "schema": "ghost/possess/v1",
        "proxy": f"{host}:{port}",
        "port": port,
        "agent": agent or "any",
        "session_id": session_id or None,
        "pid": os.getpid(),
    }
    output.result(document, "\n".join(lines))
    named = session_id or "ID"
    output.note(f'shell: eval "$(ghost possess --env --port {port} --session-id {named})"')
    sys.stdout.flush()


def _detach(settings: Settings) -> int:
    """Start the same command again, in a session of its own, and wait until it is ready."""
    words = [word for word in running.arguments() if word != "--detach"]
    log = ghost_home().ensure().logs / f"possess-{settings.proxy.port}.log"
    with log.open("ab") as errors:
        os.fchmod(errors.fileno(), 0o600)
        start = errors.tell()
        child = subprocess.Popen(  # noqa: S603  # our own command line
            [sys.executable, "-m", "ghost_cli", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    printed = running.read_until_ready(child, seconds=START_SECONDS)
    if child.poll() is not None:
        raise _failed(child.returncode, log, start)
    output.raw(printed)
    output.note(f"stop it: ghost possess --stop --port {settings.proxy.port}")
    return 0


def _failed(code: int, log: Path, start: int) -> FailedError:
    with log.open("rb") as file:
        file.seek(start)
        text = file.read(4000).decode("utf-8", "replace").strip()
    error = FailedError(text.splitlines()[-1] if text else "possess did not start", code="possess")
    error.__class__ = running.kind_of(code)
    return error
