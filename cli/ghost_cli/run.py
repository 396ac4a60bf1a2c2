"""`ghost run -- CMD`: a session, a proxy and an environment for one command, sealed at its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ghost_cli import output, sessions
from ghost_cli.sessions import Opened
from ghost_core.clock import SystemClock
from ghost_core.errors import GhostError, UsageError

if TYPE_CHECKING:
    from ghost_addons.proxy import Proxy
    from ghost_ledger.session.spawn import Spawned

GRACE_SECONDS = 1.0
NOT_EXECUTABLE, NOT_FOUND = 126, 127
_ISOLATION = ("enforced", "partial", "advisory")
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class _Wish:
    """The command and the session it gets; `ttl` in seconds."""

    command: list[str]
    intent: str
    scopes: tuple[str, ...]
    ttl: int | None


def run(
    command: Annotated[list[str], typer.Argument(help="Command and its arguments, after --.")],
    *,
    intent: Annotated[str, typer.Option(help="Why; default: the command's name.")] = "",
    scope: Annotated[list[str] | None, typer.Option(help="Scope; repeatable.")] = None,
    ttl: Annotated[
        int | None,
        typer.Option(
            help="Lifetime in seconds; default: session.ttl_seconds, or what a parent has left."
        ),
    ] = None,
    isolation: Annotated[str, typer.Option(help="advisory in this version.")] = "advisory",
) -> int:
    """Run a command inside a session of its own and return its exit code; own failures are 125.

    Inside a session, which GHOST_SESSION_ID names, the new one is its child.

    Example: ghost run --scope stripe -- python agent.py
    """
    _require_advisory(isolation)
    wish = _Wish(command, intent or f"run {Path(command[0]).name}", tuple(scope or ()), ttl)
    return sessions.with_engine(_program(Opened.now(), wish))


def _require_advisory(isolation: str) -> None:
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


async def _program(opened: Opened, wish: _Wish) -> int:
    from ghost_addons import cosigning
    from ghost_addons.proxy import Proxy

    child = _Child()
    with tempfile.TemporaryDirectory(prefix="ghost-run-") as folder, child.hearing_signals():
        proxy = Proxy.open(opened.home, ca_folder=Path(folder))
        try:
            sessions.sweep(proxy.services.recorder)
            port = await proxy.start("127.0.0.1", 0)
            made = _spawned(proxy, opened, wish)
            output.note("isolation: advisory, a client that ignores its environment is not stopped")
            session = proxy.admit(made.session_id, custody=made.custody)
            heads = proxy.services.ledger.heads(opened.home)
            try:
                with cosigning.following(opened.home, opened.settings, heads):
                    return await child.run(wish.command, _environment(proxy, opened, made, port))
            finally:
                # A child may outlive its session, which is sealed by then.
                if proxy.services.sessions.get(session.sid) is not None:
                    reason = "exit" if session.alive() else "ttl"
                    await proxy.evaporate(session, grace_seconds=GRACE_SECONDS, reason=reason)
                _close(proxy, session.sid)
        finally:
            await proxy.stop(grace_seconds=0)


def _close(proxy: Proxy, sid: str) -> None:
    from ghost_cli import refused

    told = refused.line(proxy.services.ledger, sid, proxy.services.refusals.last)
    if told:
        output.note(told)
    output.note(f"sealed: ghost replay --session-id {sid}")


def _spawned(proxy: Proxy, opened: Opened, wish: _Wish) -> Spawned:
    """Open the session; its key stays in this process."""
    from ghost_cli.spawn import spawned

    return spawned(
        proxy.services.recorder,
        opened.home,
        opened.settings,
        intent=wish.intent,
        ttl=wish.ttl,
        scopes=wish.scopes,
        persist=False,
        clock=SystemClock(),
    )


def _environment(proxy: Proxy, opened: Opened, made: Spawned, port: int) -> dict[str, str]:
    from ghost_cli import environment
    from ghost_ledger.session.spawn import proxy_url

    url = proxy_url(made.session_id, made.token, host="localhost", port=port)
    block = environment.made_of(
        opened.settings, made.session_id, url=url, authority=proxy.authority
    )
    return _masked(proxy, opened, block.over())


def _masked(proxy: Proxy, opened: Opened, environment: dict[str, str]) -> dict[str, str]:
    """Mask secrets wherever they stand: a copy under another name would undo the stand-in.

    Short secrets are left, because they occur by chance; those of `cmd:` are not known yet.
    """
    from ghost_credentials.needles import MIN_ENCODED_BYTES
    from ghost_credentials.scrub import Scrubber

    known = (*proxy.services.secrets.known, *proxy.events.secrets(opened.settings))
    scrubber = Scrubber([each for each in known if len(each.reveal()) >= MIN_ENCODED_BYTES])
    return {
        name: os.fsdecode(scrubber.clean(os.fsencode(value)).data)
        for name, value in environment.items()
    }


@dataclass(slots=True)
class _Child:
    """The command on our own terminal; signals that reach us are passed on."""

    process: asyncio.subprocess.Process | None = None
    early: list[int] = field(default_factory=list)

    @contextmanager
    def hearing_signals(self) -> Iterator[None]:
        """Hold signals that come before the command runs, so that the session is sealed in any case."""
        loop = asyncio.get_running_loop()
        for number in _PASSED_ON:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue  # whoever started us wants it so, with nohup for one
            loop.add_signal_handler(number, self._heard, number)
        yield

    async def run(self, command: list[str], environment: dict[str, str]) -> int:
        """Run it to its end and return its code, 128 + n for signal n, as a shell does."""
        if self.early:
            return 128 + self.early[0]
        try:
            self.process = await asyncio.create_subprocess_exec(*command, env=environment)
        except FileNotFoundError:
            output.note(f"{command[0]}: not found")
            return NOT_FOUND
        except OSError as error:
            output.note(f"{command[0]}: cannot be executed, {error.strerror}")
            return NOT_EXECUTABLE
        for number in self.early:
            self._heard(number)
        code = await self.process.wait()
        return code if code >= 0 else 128 - code

    def _heard(self, number: int) -> None:
        if self.process is None:
            self.early.append(number)
        elif self.process.returncode is None and not _typed(number):
            self.process.send_signal(number)


def _typed(number: int) -> bool:
    """Tell whether the terminal has sent the signal to the child as well, with Ctrl-C."""
    return number == signal.SIGINT and sys.stdin.isatty()
