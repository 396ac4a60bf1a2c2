"""`ghost spawn`: open a session; the one place where scopes are checked before a session exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ghost_cli import inside, output, streams
from ghost_cli.sessions import Opened
from ghost_core.clock import Clock, SystemClock
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_hooks.policy import Policy
from ghost_hooks.scope import contains, parse_all
from ghost_hooks.tools import Catalogue
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import lifetime
from ghost_ledger.session import spawn as birth
from ghost_ledger.session.spawn import Spawned
from ghost_ledger.session.sweep import sweep


def spawn(
    *,
    intent: Annotated[str, typer.Option(help="Why the session exists; up to 4 KiB of text.")],
    ttl: Annotated[
        int | None,
        typer.Option(
            help="Lifetime in seconds; default: session.ttl_seconds, or what a parent has left."
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="What it may do: tool, tool:action, tool:action@host, 'GET https://host/path'; "
            "repeatable. Without one nothing is allowed."
        ),
    ] = None,
    parent: Annotated[
        str | None,
        typer.Option(
            help="A live session; the new one holds a subset of it. Default: the one that "
            "GHOST_SESSION_ID names, while it lives."
        ),
    ] = None,
) -> None:
    """Open a session with scopes and a lifetime, and print it as one JSON object.

    The object holds the session's token: keep it out of logs.

    Example: ghost spawn --intent deploy_staging --scope stripe --ttl 300
    """
    opened = Opened.now()
    settings, clock = opened.settings, SystemClock()
    with opened.recorder() as recorder:
        sweep(recorder, opened.home, clock)
        made = spawned(
            recorder,
            opened.home,
            settings,
            intent=intent,
            ttl=ttl,
            scopes=scope or (),
            parent=parent,
            clock=clock,
        )
        recorder.detach(made.session_id)
        made.custody.release()
        output.result(made.document())
        streams.flush()  # before receivers are told, which may take a moment
        made.token.wipe()


def spawned(
    recorder: Recorder,
    home: Home,
    settings: Settings,
    *,
    intent: str,
    ttl: int | None,
    scopes: Sequence[str],
    clock: Clock,
    parent: str | None = None,
    persist: bool = True,
) -> Spawned:
    """Check the scopes against the known tools, then make the session; `ttl` in seconds.

    Without a `parent` the live session around us is one. Without a `ttl` it is the configured one, or what
    the parent has left.

    Raises:
        UsageError: an unknown or malformed scope, and as `ghost_ledger.session.spawn.spawn`.
        DeniedError: the parent is not below the session around us, and as there.
        ConfigError: a tool, rule or schema of the settings is broken.
    """
    known = Catalogue.from_settings(settings).names
    granted = tuple(scope.text for scope in parse_all(list(scopes), known))
    ledger = Ledger(recorder.engine, home)
    parent = inside.parent_of(ledger, parent, clock)
    if ttl is None:
        ttl = _default_ttl(ledger, settings, parent, clock)
    return birth.spawn(
        recorder,
        home,
        settings,
        intent=intent,
        ttl_seconds=ttl,
        scopes=granted,
        clock=clock,
        policy_hash=Policy(settings, granted).hash,
        contains=contains,
        parent=parent,
        persist=persist,
    )


def _default_ttl(ledger: Ledger, settings: Settings, parent: str | None, clock: Clock) -> int:
    """Return the configured lifetime in seconds, a second less than a parent's where that is shorter."""
    row = ledger.session(parent) if parent else None
    most = settings.session.ttl_seconds
    if row is None:
        return most
    return max(1, min(most, lifetime.remaining_us(row, clock) // 1_000_000 - 1))
