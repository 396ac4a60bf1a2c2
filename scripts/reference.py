"""Writes the generated pages: the help of every command, and the table of settings.

usage: python scripts/reference.py [FOLDER]    default: docs/reference
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ghost_cli.commands import COMMANDS
from ghost_cli.main import main as ghost
from ghost_core.settings_fields import FIELDS, Field, variable
from ghost_memory.server.catalogue.prompts import PROMPTS
from ghost_memory.server.catalogue.resources import FIXED, TEMPLATES
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.parameters import Kind, Parameter

PLACE = Path(__file__).parent.parent / "docs" / "reference"
GENERATED = "Written by `python scripts/reference.py`; changes by hand are lost."
MARK = "Every command takes:"
KINDS: Mapping[Kind, str] = {
    "text": "text",
    "integer": "whole number",
    "number": "number",
    "flag": "true or false",
    "texts": "list of texts",
}
TIGHTER = {None: "after `ghost trust` only", "lower": "yes, downwards", "free": "yes"}


def main() -> int:
    """Write every page into the folder."""
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else PLACE
    place.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (place / name).write_text(text, "utf-8")
    return 0


def pages() -> Iterator[tuple[str, str]]:
    """Yield name and text of each generated page."""
    yield "commands.md", commands_page()
    yield "settings.md", settings_page()
    yield "mcp.md", mcp_page()


def commands_page() -> str:
    """Return the page of all commands, in the order of `ghost --help`."""
    parts = ["# Commands\n", f"{GENERATED}\n", f"```text\n{help_of()}\n```\n"]
    for words in names():
        parts += [f"## ghost {' '.join(words)}\n", f"```text\n{own(help_of(*words))}\n```\n"]
    return "\n".join(parts)


def mcp_page() -> str:
    """Return the page of the memory server: its tools, resources and prompts."""
    parts = ["# Tools of memory\n", f"{GENERATED}\n"]
    parts.append(
        "What `ghost mcp` offers; how to register it: [memory for your agent](../how-to/memory-server.md).\n"
    )
    for tool in TOOLS.values():
        promises = (
            ("reads", tool.reads),
            ("destroys", tool.destroys),
            ("may be repeated", tool.repeats),
        )
        said = ", ".join(name for name, holds in promises if holds) or "writes"
        parts += [
            f"## {tool.name}\n",
            f"{tool.about}\n",
            f"*{said}*\n",
            parameters(tool.parameters),
        ]
    parts += ["## Resources\n", "| address | content |\n|---|---|"]
    parts += [f"| `{each.uri}` | {each.about} |" for each in (*TEMPLATES, *FIXED)]
    parts.append("\n## Prompts\n")
    for prompt in PROMPTS.values():
        parts += [f"### {prompt.name}\n", f"{prompt.about}\n", parameters(prompt.parameters)]
    return "\n".join(parts).rstrip() + "\n"


def parameters(declared: Sequence[Parameter]) -> str:
    """Return the table of what a tool or prompt takes."""
    if not declared:
        return "Takes nothing.\n"
    rows = ["| argument | type | without it | |\n|---|---|---|---|"]
    for each in declared:
        found = each.default
        empty = found in (None, "", ())
        without = "required" if each.required else "" if empty else f"`{json.dumps(found)}`"
        choices = f" One of {', '.join(each.choices)}." if each.choices else ""
        rows.append(f"| `{each.name}` | {KINDS[each.kind]} | {without} | {each.about}{choices} |")
    return "\n".join(rows) + "\n"


def names() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, those of a group after their group."""
    for command in COMMANDS:
        words = tuple(command.name.split())
        yield words
        for name in members(help_of(*words)):
            yield (*words, name)


def members(text: str) -> list[str]:
    """Return the names that the help of a group lists."""
    _, _, listed = text.partition("\nCommands:\n")
    rows = listed.split("\n\n")[0].splitlines()
    return [row.split()[0] for row in rows if row.startswith("  ") and row[2:3] != " "]


def help_of(*words: str) -> str:
    """Return what `ghost … --help` prints in 80 columns."""
    printed = io.StringIO()
    os.environ["COLUMNS"] = "80"  # noqa: TID251  # the only way to tell the formatter
    with contextlib.redirect_stdout(printed):
        code = ghost([*words, "--help"])
    if code != 0:
        raise RuntimeError(f"ghost {' '.join(words)} --help: exit {code}")
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())


def own(text: str) -> str:
    """Return a help text without the part that all commands share."""
    return text.partition(MARK)[0].rstrip()


def settings_page() -> str:
    """Return the table of plain settings; the tables that users name are in the annotated file."""
    rows = [
        f"| `{key}` | `{shown(field)}` | `{variable(key)}` | {tightening(field)} |"
        for key, field in FIELDS.items()
    ]
    return "\n".join(
        (
            "# Settings\n",
            f"{GENERATED}\n",
            "A flag wins over the variable, the variable over a project's `ghost.toml`, that over the one in",
            "`$GHOST_HOME`, that over the default. What each setting means stands in the annotated file that",
            "`ghost config init` writes; credentials, tools and rules too. `ghost config show --origin` says",
            "what is in force and where each value comes from.\n",
            "The settings of `prices`, `harness`, `memory.nudge` and `memory.llm` belong to parts that this",
            "version does not have; see [limits](../limits.md).\n",
            "| key | default | variable | may a project's file change it? |",
            "|---|---|---|---|",
            *rows,
            "",
        )
    )


def shown(field: Field) -> str:
    """Return a default as `ghost.toml` spells it."""
    match field.default:
        case str() as text:
            return f'"{text}"'
        case tuple() as items:
            return str(list(items))
        case other:
            return str(other)


def tightening(field: Field) -> str:
    """Say what an untrusted project's file may do to a setting."""
    if isinstance(field.tighter, tuple):
        return "yes, towards " + " → ".join(f"`{each}`" for each in field.tighter)
    return TIGHTER[field.tighter]


if __name__ == "__main__":
    sys.exit(main())
