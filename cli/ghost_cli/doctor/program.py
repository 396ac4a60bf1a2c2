"""Which program answers to `ghost`, and whether everything that it needs is installed."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from ghost_cli.doctor.check import REINSTALL, Check, fail, ok, warn
from ghost_core.version import __version__

DISTRIBUTION = "ghost-ledger"
_MARK = b"ghost_cli"
_LOOK_BYTES = 65_536
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def installation() -> Iterator[Check]:
    """Look for every package that the installation asks for."""
    missing = [name for name in _required() if not _installed(name)]
    version = ".".join(map(str, sys.version_info[:3]))
    found = f"ghost {__version__}, Python {version}"
    if missing:
        yield fail("installation", f"{found}; not installed: {', '.join(missing)}", REINSTALL)
    else:
        yield ok("installation", found)


def on_path(environ: Mapping[str, str]) -> Iterator[Check]:
    """Look for the `ghost` that a shell would start: a well-known other tool has that name too."""
    ours = Path(sys.executable).parent
    found = shutil.which("ghost", path=environ.get("PATH", ""))
    first = f'export PATH="{ours}:$PATH"'
    if found is None:
        yield warn("program", f"no 'ghost' is on PATH; this one is in {ours}", first)
    elif not _is_ours(Path(found)):
        yield warn("program", f"the first 'ghost' on PATH is another program, {found}", first)
    elif Path(found).parent.resolve() != ours.resolve():
        yield warn("program", f"the first 'ghost' on PATH is another installation, {found}", first)
    else:
        yield ok("program", found)


def _is_ours(path: Path) -> bool:
    """Tell by the text of the script; it is not started, since it may be anything."""
    try:
        with path.open("rb") as file:
            return _MARK in file.read(_LOOK_BYTES)
    except OSError:
        return False


def _required() -> list[str]:
    """Return the names of what this installation needs without an extra."""
    wanted = metadata.requires(DISTRIBUTION) or [] if _installed(DISTRIBUTION) else []
    plain = [each for each in wanted if ";" not in each]
    return [found.group() for each in plain if (found := _NAME.match(each))]


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True
