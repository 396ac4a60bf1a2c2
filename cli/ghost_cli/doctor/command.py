"""Runs every examination in turn; the command line is read by hand, before Typer is imported."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from ghost_cli import output
from ghost_cli.doctor import configuration, folders, machine, program, surroundings
from ghost_cli.doctor.check import Check, examine
from ghost_core.errors import UsageError
from ghost_core.paths import home as ghost_home

SCHEMA = "ghost/doctor/v1"
HELP = """\
Usage: ghost doctor

  Look for what would go wrong here, and name the command that mends it.

  Installation, configuration, home and runtime folder, port, certificate, clock,
  locked memory, variables of this shell; then one real request with each client
  found (curl, python3, node, git), through a temporary session in a temporary
  home to a server on loopback. Your home is read and not changed, nothing leaves
  this machine. Exit 1 if anything fails, 0 with warnings.

  Example: ghost doctor --json
"""


def doctor(words: list[str]) -> int:
    """Print one line for each check; returns 1 if one failed."""
    from ghost_cli.commands import FLAGS

    if words and words[0] in {"--help", "-h"}:
        output.lines(f"{HELP}\n{FLAGS}")
        return 0
    if words:
        raise UsageError(
            f"doctor: takes no argument, found {words[0]!r}",
            code="usage.arguments",
            hint="ghost doctor --help",
        )
    # the one place of this command that looks at the shell: every variable may be a trap
    checks = list(examinations(dict(os.environ)))  # noqa: TID251
    width = max(len(each.name) for each in checks)
    document = {"schema": SCHEMA, "checks": [each.document() for each in checks]}
    output.result(document, "\n".join(each.line(width) for each in checks))
    return 1 if any(each.status == "fail" for each in checks) else 0


def examinations(environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield every finding, in the order in which they are mended best."""
    home, now = ghost_home(), datetime.now(UTC)
    reading = configuration.Reading()
    yield from examine("installation", program.installation)
    yield from examine("program", lambda: program.on_path(environ))
    yield from examine("configuration", reading.examine)
    yield from examine("home", lambda: folders.examine_home(home))
    yield from examine("runtime", lambda: folders.examine_runtime(home))
    yield from examine("port", lambda: machine.examine_port(reading.known))
    yield from examine("certificate", lambda: machine.examine_authority(home, now))
    yield from examine("clock", lambda: machine.examine_clock(home, now))
    yield from examine("memory", machine.examine_memory)
    yield from examine("environment", lambda: _surroundings(environ, reading, home.ca))
    yield from examine("request", lambda: _clients(environ))


def _surroundings(
    environ: Mapping[str, str], reading: configuration.Reading, ca: Path
) -> Iterator[Check]:
    known = reading.known
    return surroundings.examine(environ, known.hosts, ca, proxy=(known.host, known.port))


def _clients(environ: Mapping[str, str]) -> Iterator[Check]:
    from ghost_cli.doctor import clients

    return clients.examine(environ)
