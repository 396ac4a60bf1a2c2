"""`ghost upgrade`."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output, streams
from ghost_cli.upgrade.fetching import Fetcher, place, require_https
from ghost_cli.upgrade.index import Wheel, download, newest
from ghost_cli.upgrade.installer import Installation
from ghost_cli.upgrade.versions import parse
from ghost_core import settings as configuration
from ghost_core.errors import ConfigError, DeniedError, FailedError, UnavailableError
from ghost_core.version import __version__

SCHEMA = "ghost/upgrade/v1"


def upgrade(
    *,
    index: Annotated[
        str, typer.Option("--index", metavar="URL", help="Index; else upgrade.index of ghost.toml.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
) -> None:
    """Install the newest version of an index.

    The wheel is downloaded over https, its SHA-256 must be the one that the index names, and it must be
    newer than this one: an older one is refused. It is installed by what installed this ghost: pip, pipx or
    uv. Nothing is changed before all that holds.

    Example: ghost upgrade --index https://packages.example/simple/ --dry-run
    """
    settings = configuration.load()
    address = _index(index or settings.upgrade.index)
    here = Installation.here()
    _require_index_install(here, named=bool(index))
    way, fetcher = here.way, Fetcher(settings.proxy.upstream_ca)
    wheel = newest(fetcher, address)
    if not _is_newer(wheel, address):
        _say(wheel, way, [], f"ghost {__version__} is the newest of {place(address)}")
        return
    command = here.command(wheel.name)
    if dry_run:
        _say(wheel, way, command, f"would install ghost {wheel.version}: {shlex.join(command)}")
        return
    _install(here, wheel, download(fetcher, wheel))
    _say(wheel, way, command, f"installed ghost {wheel.version} with {way}", installed=True)


def _index(address: str) -> str:
    if not address:
        raise ConfigError(
            "upgrade.index: no index is named",
            code="upgrade.index",
            hint="ghost upgrade --index https://HOST/simple/, or set upgrade.index in ghost.toml",
        )
    require_https(address)
    return address


def _require_index_install(here: Installation, *, named: bool) -> None:
    """Refuse to replace what was built from sources, unless an index was named for this very call."""
    if here.editable or (here.source and not named):
        raise UnavailableError(
            f"upgrade: this ghost was installed from {place(here.source)}",
            code="upgrade.source",
            hint="git pull there"
            + ("" if here.editable else " and install it again, or name an index with --index"),
        )


def _is_newer(wheel: Wheel, address: str) -> bool:
    """Tell whether a wheel is newer than this; raises DeniedError `upgrade.downgrade` for an older one."""
    ours = parse(__version__)
    if ours is None or wheel.order < ours:
        raise DeniedError(
            f"upgrade: {place(address)} offers {wheel.version} at most, this is {__version__}",
            code="upgrade.downgrade",
            hint="nothing was changed; an older version is never installed over a newer one",
        )
    return wheel.order > ours


def _install(here: Installation, wheel: Wheel, data: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="ghost-upgrade-") as folder:
        file = Path(folder) / wheel.name
        file.write_bytes(data)
        streams.flush()
        here.install(file)
    found = here.version()
    if found != wheel.version:
        raise FailedError(
            f"upgrade: expected ghost {wheel.version}, found {found or 'none that answers'}",
            code="upgrade.failed",
            hint="the installer may have used another environment",
        )


def _say(wheel: Wheel, way: str, command: list[str], text: str, *, installed: bool = False) -> None:
    document = {
        "schema": SCHEMA,
        "from": __version__,
        "to": wheel.version,
        "newer": bool(command),
        "sha256": wheel.sha256,
        "installer": way,
        "command": command,
        "installed": installed,
    }
    output.result(document, text)
