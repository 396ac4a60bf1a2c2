"""The environment block of one session, for `possess --env` and for the child of `ghost run`."""

from __future__ import annotations

from ghost_addons import ca
from ghost_agents import environment as block
from ghost_cli import sessions
from ghost_cli.sessions import Opened
from ghost_core.clock import SystemClock
from ghost_core.errors import DeniedError
from ghost_core.files import write_file
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_credentials.binding import Credentials
from ghost_ledger.session import lifetime, token
from ghost_ledger.session.spawn import proxy_url


def of_session(home: Home, settings: Settings, sid: str, *, port: int) -> block.Environment:
    """Return the block of a live session, its token made again; raises NotFoundError or DeniedError."""
    with Opened(home, settings).ledger() as ledger:
        row = ledger.session(sid)
    if row is None or row.system:
        raise sessions.unknown(f"session {sid[:64]}: not in this ledger")
    clock = SystemClock()
    if row.status != "live" or lifetime.expired(row, clock):
        raise DeniedError(
            f"session {sid}: has ended", code="session.ended", hint="ghost spawn --intent …"
        )
    made = token.issue(home, sid, row.expires_at, clock=clock, expected=row.token)
    url = proxy_url(sid, made, host=settings.proxy.host, port=port)
    return made_of(settings, sid, url=url, authority=ca.ensure(home.ca))


def made_of(
    settings: Settings, sid: str, *, url: str, authority: ca.Authority
) -> block.Environment:
    """Return the block for a proxy URL and an authority."""
    wgetrc = authority.bundle_file.with_name("wgetrc")
    write_file(wgetrc, block.wgetrc_text(authority.bundle_file).encode(), mode=0o644)
    return block.block(
        proxy_url=url,
        session_id=sid,
        bundle=authority.bundle_file,
        authority=authority.certificate_file,
        wgetrc=wgetrc,
        placeholders=stand_ins(settings),
    )


def stand_ins(settings: Settings) -> dict[str, str]:
    """Return what the agent holds in place of each secret that lies in a variable of ours."""
    found: dict[str, str] = {}
    for credential in Credentials.from_settings(settings).by_name.values():
        if credential.reference.scheme == "env":
            found[credential.reference.place] = credential.stand_in.decode("ascii")
    return found
