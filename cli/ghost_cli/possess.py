"""`ghost possess`: the proxy that agents call through, in the foreground or detached."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output, running, streams
from ghost_core import settings as configuration
from ghost_core.errors import GhostError, UnavailableError, UsageError
from ghost_core.paths import home as ghost_home
from ghost_core.settings import Settings

START_SECONDS = 20.0
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the command line asks for; `port` None means the configured one."""

    session_id: str
    agent: str
    host: str
    port: int | None
    verbose: bool
    bare: bool

    def overrides(self) -> dict[str, object]:
        """Return the settings that the command line decides."""
        found: dict[str, object] = {}
        if self.verbose:
            found["proxy.record"] = "all"
        if self.host:
            found["proxy.host"] = self.host
        if self.port is not None:
            found["proxy.port"] = self.port
        return found

    def settings(self) -> Settings:
        """Load the settings with the overrides, now and whenever a file changes."""
        return configuration.load(overrides=self.overrides())

    def words(self) -> list[str]:
        """Return the same wish as a command line."""
        named = {"--session-id": self.session_id, "--agent": self.agent, "--host": self.host}
        words = [word for name, value in named.items() if value for word in (name, value)]
        words += [] if self.port is None else ["--port", str(self.port)]
        words += ["--verbose"] if self.verbose else []
        return words if self.bare else [*words, "--no-bare"]


def possess(
    *,
    session_id: Annotated[
        str,
        typer.Option(help="Session of clients that present nothing.", envvar="GHOST_SESSION_ID"),
    ] = "",
    agent: Annotated[str, typer.Option(help="Agent URL, such as openai://gpt-5.")] = "",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "",
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = None,
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
    if stop:
        return running.stop(port)
    wish = _Wish(session_id, _agent(agent), host, port, verbose, bare)
    if env:
        return _print_env(wish, shell)
    return _detach(wish) if detach else _serve(wish)


def _agent(url: str) -> str:
    from ghost_agents import profile

    return profile.parse(url).url if url else ""


def _print_env(wish: _Wish, shell: str) -> int:
    if not wish.session_id:
        raise UsageError(
            "--env: expected --session-id", code="usage.session", hint="ghost session list"
        )
    from ghost_agents import shells
    from ghost_cli import environment

    form = shells.parse_shell("json" if output.options().json else shell)
    settings = wish.settings()
    port = running.port_of(settings.proxy.port) if wish.port is None else wish.port
    block = environment.of_session(ghost_home(), settings, wish.session_id, port=port)
    output.raw(shells.render(block, form).encode())
    return 0


# -- in the foreground -------------------------------------------------------------------------------


def _serve(wish: _Wish) -> int:
    settings = wish.settings()  # before the engine's imports: most mistakes are found here
    running.require_free(settings.proxy.host, settings.proxy.port)
    from ghost_cli import sessions

    return sessions.with_engine(_program(wish, settings))


async def _program(wish: _Wish, settings: Settings) -> int:
    from ghost_addons import cosigning, session_log
    from ghost_addons.proxy import Proxy
    from ghost_cli import sessions

    if output.options().verbose:
        session_log.listen()
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    _listen_for_signals(ended)
    proxy = Proxy.open(ghost_home(), wish.settings)
    try:
        sessions.sweep(proxy.services.recorder)
        port = await proxy.start(settings.proxy.host, settings.proxy.port)
        if wish.session_id:
            with sessions.unknown_is_missing():
                proxy.admit(wish.session_id)
        proxy.services.sessions.bare = wish.session_id if wish.bare else ""
        heads = proxy.services.ledger.heads(ghost_home())
        with running.announced(port), cosigning.following(ghost_home(), settings, heads):
            _announce(_document(wish, settings.proxy.host, port))
            return await ended
    finally:
        await proxy.stop()


def _listen_for_signals(ended: asyncio.Future[int]) -> None:
    loop = asyncio.get_running_loop()

    def end(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    loop.add_signal_handler(signal.SIGTERM, end, 0)
    loop.add_signal_handler(signal.SIGINT, end, INTERRUPTED)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # not under nohup
        loop.add_signal_handler(signal.SIGHUP, end, 128 + signal.SIGHUP)


def _document(wish: _Wish, host: str, port: int) -> dict[str, object]:
    return {
        "schema": "ghost/possess/v1",
        "proxy": f"{host}:{port}",
        "port": port,
        "agent": wish.agent or "any",
        "session_id": wish.session_id or None,
        "pid": os.getpid(),
    }


def _announce(document: dict[str, object]) -> None:
    """Print the four lines, then how a shell is made ready; the port accepts by now."""
    named = document["session_id"]
    lines = (
        f"Proxy active on {document['proxy']}",
        f"Forwarding to agent: {document['agent']}",
        f"Session: {named or 'any (clients authenticate)'}",
        "Ready for ghost act",
    )
    output.result(document, "\n".join(lines))
    streams.flush()
    words = f"--port {document['port']} --session-id {named or 'ID'}"
    output.note(f'shell: eval "$(ghost possess --env {words})"')


# -- in the background -------------------------------------------------------------------------------


def _detach(wish: _Wish) -> int:
    """Start the same command again, in a process session of its own, and wait until it is ready."""
    log = ghost_home().ensure().logs / f"possess-{wish.settings().proxy.port}.log"
    with log.open("ab") as errors:
        os.fchmod(errors.fileno(), 0o600)
        start = errors.tell()
        child = subprocess.Popen(
            # -P: a file named like one of our modules in the current folder is not imported.
            [sys.executable, "-P", "-m", "ghost_cli", "possess", "--json", *wish.words()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    document = running.first_object(child, seconds=START_SECONDS)
    if document is None:
        raise _failure(child, log, start)
    _announce(document)
    output.note(f"stop it: ghost possess --stop --port {document['port']}")
    return 0


def _failure(child: subprocess.Popen[bytes], log: Path, start: int) -> GhostError:
    """Return what the child said, or that it said nothing in time; it does not live on."""
    child.kill()
    child.wait()
    with log.open("rb") as file:
        file.seek(start)
        told = running.last_error(file.read())
    return told or UnavailableError(
        "possess did not start", code="possess.start", hint=f"see {log}"
    )
