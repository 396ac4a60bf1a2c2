"""`ghost token`: check an X-Ghost-Token as an upstream got it; needs no home and no network."""

from __future__ import annotations

import base64
import json
import re
from typing import Annotated, Final

import typer

from ghost_cli import output
from ghost_core.clock import SystemClock, rfc3339
from ghost_core.errors import UsageError
from ghost_ledger import wiretoken

_KEY: Final = re.compile(r"(?:ed25519_public_)?([0-9a-f]{64})\Z")

app = typer.Typer(help="Verify an X-Ghost-Token.", no_args_is_help=True, add_completion=False)


@app.callback()
def token() -> None:
    """Verify an X-Ghost-Token."""


@app.command("verify")
def verify(
    wire_token: Annotated[
        str, typer.Argument(metavar="TOKEN", help="The header's value; it opens nothing.")
    ],
    *,
    key: Annotated[str, typer.Option(help="The session's wire_key, as ghost spawn printed it.")],
    host: Annotated[
        str | None, typer.Option(help="The host that received it; without it, the token's own.")
    ] = None,
) -> None:
    """Check that a session made this token for this host.

    And that it has not ended.

    Example: ghost token verify --key ed25519_public_… --host api.example.com ghwire_…
    """
    named = _host_of(wire_token) if host is None else host
    now_s = SystemClock().now_us() // 1_000_000
    claims = wiretoken.check(wire_token, _public(key), now_s=now_s, host=named)
    expires_at = rfc3339(claims.expires_at_s * 1_000_000)
    output.result(
        {
            "schema": "ghost/token/v1",
            "verified": True,
            "session_id": claims.sid,
            "action_id": claims.action_id,
            "host": claims.host,
            "host_checked": host is not None,
            "expires_at": expires_at,
        },
        f"valid: session {claims.sid}, action {claims.action_id}, for {claims.host}, until {expires_at}"
        + ("" if host is not None else "\nthe host was not checked, name it with --host"),
    )


def _public(key: str) -> bytes:
    found = _KEY.match(key)
    if found is None:
        raise UsageError(
            "--key: expected 64 hex digits, with or without ed25519_public_",
            code="usage.key",
            hint="use wire_key of ghost spawn or ghost session show",
        )
    return bytes.fromhex(found.group(1))


def _host_of(wire_token: str) -> str:
    """Read which host the token claims to be for; whether it is genuine is decided afterwards."""
    body = wire_token.removeprefix("ghwire_").partition(".")[0]
    try:
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, RecursionError):
        return ""
    named = claims.get("host") if isinstance(claims, dict) else None
    return named if isinstance(named, str) else ""
