"""The machine: the proxy's port, the clock, locked memory, the certificate authority."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ghost_cli import running
from ghost_cli.doctor.check import Check, fail, ok, warn
from ghost_cli.doctor.configuration import Known
from ghost_core.errors import UnavailableError
from ghost_core.paths import Home, runtime_place

SLACK = timedelta(minutes=10)
RENEWED_BEFORE = timedelta(days=7)


def examine_port(known: Known) -> Iterator[Check]:
    """Look whether the proxy's port is free, or taken by a proxy of ours."""
    where = f"{known.host}:{known.port}"
    for _, each in running.notes(runtime_place()):
        if each is not None and each.port == known.port and each.runs():
            yield ok("port", f"{where}, ghost possess runs there (process {each.pid})")
            return
    try:
        running.require_free(known.host, known.port)
    except UnavailableError:
        mend = "ghost possess --port PORT, or GHOST_PROXY__PORT=PORT for every command"
        yield fail("port", f"{where} is in use by another program", mend)
        return
    yield ok("port", f"{where} is free")


def examine_clock(home: Home, now: datetime) -> Iterator[Check]:
    """Compare the clock with what was surely written before now; there is no network to ask."""
    marks = [Path(__file__), *(sorted(home.heads.glob("*")) if home.heads.is_dir() else [])]
    latest = max(datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in marks)
    shown = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    if latest - now > SLACK:
        newest = latest.strftime("%Y-%m-%dT%H:%M:%SZ")
        found = f"{shown} is before {newest}, when files of ours were written"
        yield fail("clock", found, "timedatectl set-ntp true")
    else:
        yield ok("clock", shown)


def examine_memory() -> Iterator[Check]:
    """Lock a page as session keys do, so that it cannot reach the swap."""
    from ghost_ledger.keys import SecretKey

    key = SecretKey.generate()
    locked = key.locked
    key.wipe()
    if locked:
        yield ok("memory", "pages can be locked")
    else:
        found = "no page can be locked: session keys may reach the swap"
        yield warn("memory", found, "ulimit -l 1024")


def examine_authority(home: Home, now: datetime) -> Iterator[Check]:
    """Look at the certificate that clients trust, and at the files that they are given."""
    from ghost_addons import ca

    if not (home.ca / "ghost-ca.pem").exists():
        yield ok("certificate", "none yet; the first possess makes it")
        return
    found = ca.existing(home.ca)
    if now < found.begins - SLACK:
        begins = found.begins.strftime("%Y-%m-%d")
        yield fail("certificate", f"is valid from {begins} only", "timedatectl set-ntp true")
    elif found.ends - now <= RENEWED_BEFORE:
        text = f"ends {found.ends:%Y-%m-%d}; the next start makes a new one"
        yield warn("certificate", text, "ghost possess --stop, ghost possess, restart the agents")
    elif not found.complete:
        text = "the files for clients do not hold the certificate of the key"
        yield warn("certificate", text, "ghost ca export")
    else:
        yield ok("certificate", f"valid until {found.ends:%Y-%m-%d}")
