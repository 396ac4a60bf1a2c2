"""`ghost act`: one declared call, through all gates, with or without a running possess."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import inside, output, sessions
from ghost_cli.sessions import Message, Opened
from ghost_core.clock import SystemClock
from ghost_core.errors import NotFoundError, UsageError
from ghost_core.paths import home as ghost_home

CALL_SECONDS = 600.0
PARAMS_LIMIT_BYTES = 8_000_000
_PARAMS = """--params '{"amount": 100}', or --params @FILE, or - for stdin"""
EXIT_CODES = {"executed": 0, "denied": 5}  # failed and unknown: 1


def act(
    *,
    tool: Annotated[str, typer.Option(help="Tool, as ghost.toml names it.")],
    action: Annotated[str, typer.Option(help="Action of the tool.")],
    params: Annotated[str, typer.Option(help="JSON object, @FILE, or - for stdin.")] = "{}",
    session_id: Annotated[str, typer.Option(help="Session.", envvar="GHOST_SESSION_ID")] = "",
    validate_pre: Annotated[
        str, typer.Option(help="Hook to run before the call: file or URL.")
    ] = "",
    validate_post: Annotated[str, typer.Option(help="Hook to run on the reply: file or URL.")] = "",
    attempts: Annotated[
        int, typer.Option(help="Tries, where repeating is safe.", min=1, max=10)
    ] = 3,
) -> int:
    """Make one call through all gates; inside a session in it or in one below it.

    Example: ghost act --tool stripe --action create_charge --params '{"amount": 100}'
    """
    request: Message = {
        "op": "act",
        "tool": tool,
        "action": action,
        "params": _params(params),
        "attempts": attempts,
        "validate_pre": _hook(validate_pre),
        "validate_post": _hook(validate_post),
    }
    opened = Opened.now()
    sid = sessions.chosen(opened, session_id)
    if inside.session() not in {"", sid}:
        _require_within(opened, sid)
    document = sessions.asked(
        sid,
        request,
        timeout=CALL_SECONDS,
        alone=lambda: sessions.with_engine(_alone(sid, request)),
    )
    output.result(document)
    return EXIT_CODES.get(str(document.get("status")), 1)


def _require_within(opened: Opened, sid: str) -> None:
    with contextlib.suppress(NotFoundError), opened.ledger() as ledger:
        inside.require_within(ledger, sid, SystemClock())


def _params(text: str) -> Message:
    if text.startswith("@"):
        text = _file(text[1:])
    try:
        text = sys.stdin.read(PARAMS_LIMIT_BYTES + 1) if text == "-" else text
        if len(text) > PARAMS_LIMIT_BYTES:
            raise UsageError(f"params: over {PARAMS_LIMIT_BYTES} characters", code="act.params")
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("params: not valid JSON", code="act.params", hint=_PARAMS) from error
    if not isinstance(found, dict):
        raise UsageError("params: expected a JSON object", code="act.params", hint=_PARAMS)
    return found


def _file(name: str) -> str:
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(PARAMS_LIMIT_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise NotFoundError(f"params file {name!r}: cannot be read", code="act.params") from error


def _hook(name: str) -> list[list[str]]:
    """Name a hook by absolute path and hash, so that what runs is what was meant; a URL by its own hash."""
    if not name:
        return []
    from ghost_hooks.webhook import is_url, url_hash

    if is_url(name):
        return [[name, url_hash(name)]]
    path = Path(name).absolute()
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise NotFoundError(f"hook {name!r}: cannot be read", code="hook.missing") from error
    return [[str(path), digest]]


async def _alone(sid: str, request: Message) -> Message:
    """Become the owner for this one call, with an engine on a free port."""
    from ghost_addons.proxy import Proxy

    proxy = Proxy.open(ghost_home())
    try:
        await proxy.start("127.0.0.1", 0)
        with sessions.unknown_is_missing():
            session = proxy.admit(sid)
        return await proxy.act(session, request)
    finally:
        await proxy.stop()  # with its grace: somebody else may have asked us meanwhile
