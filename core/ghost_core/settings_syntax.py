"""What is wrong with a file that is no TOML: the place and the rule, never a value of the file."""

from __future__ import annotations

import re

_PLACE = re.compile(r" \(at (line (\d+), column \d+|end of document)\)\Z")
_TWICE = re.compile(r"Cannot declare (\(.+\)) twice\Z")
_NAME = re.compile(r"'([^']*)'")
_PLAIN = (
    "Expected '=' after a key",
    "Expected ']' at the end of",
    "Expected newline or end of document",
    "Invalid value",
    "Unterminated string",
)
"""How messages of the parser begin that say what it expected and nothing of what it found."""


def explained(message: str, text: str) -> tuple[str, str]:
    """Return what the parser's message says, from its place on, and a hint."""
    found = _PLACE.search(message)
    if found is None:
        return "", "expected UTF-8 text of the form name = value"
    place, line = found.group(1), int(found.group(2) or 0)
    said = message[: found.start()]
    twice = _TWICE.match(said)
    if twice:
        return _second_table(_NAME.findall(twice.group(1)), text, place, line)
    if said == "Cannot overwrite a value":
        return f", {place}, a name is there a second time", "remove one of the two"
    known = said.startswith(_PLAIN)
    why = f", {said[:1].lower()}{said[1:]}" if known else ""
    return f", {place}{why}", 'expected name = value, with text in quotes: host = "localhost"'


def _second_table(names: list[str], text: str, place: str, line: int) -> tuple[str, str]:
    table = f"[{'.'.join(names)}]"
    first = _line_of(names, text.split("\n")[: line - 1])
    where = f" (line {first})" if first else ""
    hint = "change values inside the first one, and remove the second"
    return f", {place}, {table} is there already{where}", hint


def _line_of(names: list[str], lines: list[str]) -> int:
    """Return the line of a table's head; 0 for a table that values made with dotted names."""
    parts = r"\s*\.\s*".join(rf"[\"']?{re.escape(name)}[\"']?" for name in names)
    head = re.compile(rf"\s*\[\[?\s*{parts}\s*\]")
    return next((number for number, each in enumerate(lines, 1) if head.match(each)), 0)
