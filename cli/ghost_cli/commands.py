"""The table of commands: `ghost --help` reads it, and only the module of the invoked one is imported."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import NamedTuple

PANELS = ("Session", "Evidence", "Memory", "Setup")


class Command(NamedTuple):
    """One command: its name (one or two words), where it lives, its help line, its panel.

    `target` is "module:attribute"; the attribute is a function with Typer parameters, or a Typer app
    for a group. That of a `plain` one takes its words itself, so that it runs where Typer is broken;
    a `quick` one asks neither checked settings nor the ledger, so nothing is to be heard of them. An
    `outside` one works without a home, or says itself what is wrong with it. One that `relays` returns
    its child's code, and 125 where it fails itself.
    """

    name: str
    target: str
    help: str
    panel: str
    plain: bool = False
    quick: bool = False
    outside: bool = False
    relays: bool = False

    @property
    def module(self) -> str:
        """The module that holds the command."""
        return self.target.partition(":")[0]

    @property
    def attribute(self) -> str:
        """The name of the function or app in the module."""
        return self.target.partition(":")[2]

    def load(self) -> Callable[[list[str]], int]:
        """Import the function of a plain command."""
        found: Callable[[list[str]], int] = getattr(
            importlib.import_module(self.module), self.attribute
        )
        return found

    def present(self) -> bool:
        """Tell whether this installation has the module; it is not imported."""
        return importlib.util.find_spec(self.module) is not None


# fmt: off  (a table reads best in rows)
COMMANDS = (
    Command(
        "spawn", "ghost_cli.spawn:spawn", "Open a session with scopes and a lifetime", "Session"
    ),
    Command(
        "possess",
        "ghost_cli.possess:possess",
        "Start the proxy that agents call through",
        "Session",
    ),
    Command("act", "ghost_cli.act:act", "Make one call through all gates", "Session"),
    Command(
        "evaporate",
        "ghost_cli.evaporate:evaporate",
        "End a session and seal its entries",
        "Session",
    ),
    Command(
        "run",
        "ghost_cli.run:run",
        "Run a command inside a session of its own",
        "Session",
        relays=True,
    ),
    Command("session", "ghost_cli.session:app", "List and show sessions", "Session"),
    Command("replay", "ghost_cli.replay:replay", "Show what a session did, verified", "Evidence"),
    Command(
        "residue", "ghost_cli.residue:residue", "Print the signed entries as stored", "Evidence"
    ),
    Command(
        "bundle", "ghost_cli.bundle:bundle", "Write a file for offline verification", "Evidence"
    ),
    Command(
        "bundle unpack",
        "ghost_cli.bundle:unpack",
        "Unpack a bundle into plain files",
        "Evidence",
        outside=True,
    ),
    Command(
        "verify", "ghost_cli.verify:verify", "Verify bundles offline", "Evidence", outside=True
    ),
    Command("witness", "ghost_cli.witness:app", "Cosign the log heads of others", "Evidence"),
    Command(
        "ledger",
        "ghost_cli.ledger:app",
        "Print the head of the log, verify it, erase, prune",
        "Evidence",
    ),
    Command("token", "ghost_cli.token:app", "Verify an X-Ghost-Token", "Evidence", outside=True),
    Command("mcp", "ghost_cli.mcp:mcp", "Serve memory to agents over MCP", "Memory", plain=True),
    Command("memory", "ghost_cli.memory:app", "Save, search and change memories", "Memory"),
    Command("project", "ghost_cli.project:app", "List, bind, merge and delete projects", "Memory"),
    Command(
        "context",
        "ghost_cli.context:context",
        "Print what is remembered of a directory's project",
        "Memory",
        plain=True,
        quick=True,
    ),
    Command(
        "bench",
        "ghost_cli.bench:bench",
        "Measure how well memories are found, offline",
        "Memory",
        outside=True,
    ),
    Command(
        "credential", "ghost_cli.credential:app", "List, add, test and remove credentials", "Setup"
    ),
    Command("ca", "ghost_cli.ca:app", "Show and export the local certificate", "Setup"),
    Command("config", "ghost_cli.config:app", "Write and show the configuration", "Setup"),
    Command(
        "database", "ghost_cli.database:app", "Make the tables, and roles on a server", "Setup"
    ),
    Command("trust", "ghost_cli.trust:trust", "Trust a project's ghost.toml as it is now", "Setup"),
    Command(
        "doctor",
        "ghost_cli.doctor.command:doctor",
        "Look for what would go wrong, and say how to mend it",
        "Setup",
        plain=True,
        outside=True,
    ),
    Command(
        "demo",
        "ghost_cli.demo.command:demo",
        "Run the main job end to end, offline",
        "Setup",
        outside=True,
    ),
    Command(
        "upgrade",
        "ghost_cli.upgrade.command:upgrade",
        "Install a newer version, checked, from an index",
        "Setup",
    ),
    Command("version", "ghost_cli.version:version", "Print the version", "Setup", outside=True),
)
# fmt: on


def find(words: list[str]) -> tuple[Command | None, list[str]]:
    """Return the command that the words begin with, and the rest; two-word names win."""
    for length in (2, 1):
        name = " ".join(words[:length])
        for command in COMMANDS:
            if len(words) >= length and command.name == name:
                return command, words[length:]
    return None, words


def nearest(name: str) -> str | None:
    """Return the present command whose name is closest, for a mistyped one."""
    import difflib

    names = [command.name for command in COMMANDS if command.present()]
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.6)), None)


def overview() -> str:
    """Return the help of `ghost` itself, from the table alone."""
    width = max(len(command.name) for command in COMMANDS)
    parts = ["Usage: ghost COMMAND [OPTIONS]", "", "An agent gets a ghost, not a key.", ""]
    for panel in PANELS:
        rows = [each for each in COMMANDS if each.panel == panel and each.present()]
        if rows:
            parts += [f"{panel}:", *(f"  {each.name:<{width}}  {each.help}" for each in rows), ""]
    return "\n".join([*parts, FLAGS, "", "Help on a command: ghost COMMAND --help"])


FLAGS = """\
Every command takes:
  --json       print JSON; an error is one JSON object on stderr
  --quiet, -q  no notes on stderr
  -v           log to stderr; a traceback if something unexpected happens"""
