"""`ghost act`: one declared call, through all gates, with or without a running possess."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output
from ghost_cli.sessions import Opened, chosen
from ghost_core.errors import DeniedError, NotFoundError, UsageError
from ghost_ledger.session import control

CALL_SECONDS = 600.0
PARAMS_LIMIT_BYTES = 8_000_000


def act(  # noqa: PLR0913  # one parameter per option
    *,
    tool: Annotated[str, typer.Option(help="Tool, as ghost.toml names it.")],
    action: Annotated[str, typer.Option(help="Action of the tool.")],
    params: Annotated[str, typer.Option(help="JSON object, @FILE, or - for stdin.")] = "{}",
    session_id: Annotated[str, typer.Option(help="Session.", envvar="GHOST_SESSION_ID")] = "",
    validate_pre: Annotated[str, typer.Option(help="Hook to run before the call.")] = "",
    validate_post: Annotated[str, typer.Option(help="Hook to run on the reply.")] = "",
    attempts: Annotated[int, typer.Option(help="Tries, where repeating is safe.", min=1, max=10)] = 3,
) -> int:
    """Make one call through all gates.

    Example: ghost act --tool stripe --action create_charge --params '{"amount": 100}'
    """
    opened = Opened.now()
    sid = chosen(opened, session_id)
    request: dict[str, object] = {
        "op": "act",
        "tool": tool,
        "action": action,
        "params": _params(params),
        "attempts": attempts,
        "validate_pre": _hook(validate_pre),
        "validate_post": _hook(validate_post),
    }
    try:
        document = control.ask(sid, request, timeout=CALL_SECONDS)
    except NotFoundError as error:
        if error.code != "session.no_owner":
            raise
        document = _alone(opened, sid, request)
    output.result(document)
    from ghost_addons.acting import status_of

    return status_of(document)


def _params(text: str) -> object:
    if text == "-":
        text = sys.stdin.read(PARAMS_LIMIT_BYTES + 1)
    elif text.startswith("@"):
        text = _file(text[1:])
    if len(text) > PARAMS_LIMIT_BYTES:
        raise UsageError(f"params: over {PARAMS_LIMIT_BYTES} bytes", code="act.params")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("params: not valid JSON", code="act.params") from error
    if not isinstance(found, dict):
        raise UsageError("params: expected a JSON object", code="act.params")
    return found


def _file(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFoundError(f"params file {name!r}: cannot be read", code="act.params") from error


def _hook(name: str) -> list[list[str]]:
    """Name a hook by absolute path and hash, so that what runs is what was meant."""
    if not name:
        return []
    path = Path(name).absolute()
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise NotFoundError(f"hook {name!r}: cannot be read", code="hook.missing") from error
    return [[str(path), digest]]


def _alone(opened: Opened, sid: str, request: dict[str, object]) -> dict[str, object]:
    """Become the owner for this one call, with an engine on a free port."""
    from ghost_addons import master
    from ghost_addons.proxy import Proxy

    async def program() -> dict[str, object]:
        proxy = Proxy.open(opened.home)
        await proxy.start("127.0.0.1", 0)
        try:
            session = proxy.admit(sid)
            return await proxy.act(session, request)
        finally:
            await proxy.stop(grace_seconds=0)

    try:
        return master.run(program())
    except DeniedError as error:
        if error.code == "session.unknown":
            raise NotFoundError(error.message, code=error.code, hint="ghost session list") from error
        raise
