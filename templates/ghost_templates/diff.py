"""The agent's request beside the forwarded one, line by line, with signs that do not need colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

type Document = Mapping[str, Any]  # a JSON view: its values are whatever JSON allows

_SPOKEN = {"−": "removed", "+": "added", "~": "changed"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of a line: same, gone, new, edit or blank."""

    kind: str
    name: str = ""
    value: str = ""
    sign: str = ""

    @property
    def spoken(self) -> str:
        """The sign in words, for a reader who hears the page."""
        return _SPOKEN.get(self.sign, "")


@dataclass(frozen=True, slots=True)
class Line:
    """Two cells side by side."""

    left: Cell
    right: Cell


BLANK = Cell("blank")


def pair(name: str, left: str | None, right: str | None) -> Line:
    """Compare one named value; None means that the side does not have it."""
    if left == right:
        return Line(Cell("same", name, left or ""), Cell("same", name, right or ""))
    if right is None:
        return Line(Cell("gone", name, left or "", "−"), BLANK)
    if left is None:
        return Line(BLANK, Cell("new", name, right, "+"))
    return Line(Cell("edit", name, left, "~"), Cell("edit", name, right, "~"))


def heads(before: Document, after: Document) -> tuple[Line, ...]:
    """Compare two heads: the start line, then headers by name in the order of their appearance."""
    lines = [pair("", before["start"], after["start"])]
    left, right = _headers(before), _headers(after)
    for name in sorted({*left, *right}, key=lambda key: _place(key, left, right)):
        lines += _values(name, left.get(name, []), right.get(name, []))
    return tuple(lines)


def _headers(part: Document) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for header in part["headers"]:
        found.setdefault(header["name"].lower(), []).append(header["value"])
    return found


def _place(name: str, left: dict[str, list[str]], right: dict[str, list[str]]) -> tuple[int, int]:
    if name in left:
        return 0, list(left).index(name)
    return 1, list(right).index(name)


def _values(name: str, left: list[str], right: list[str]) -> list[Line]:
    longest = max(len(left), len(right))
    padded = zip(_pad(left, longest), _pad(right, longest), strict=True)
    return [pair(name, before, after) for before, after in padded]


def _pad(values: list[str], length: int) -> list[str | None]:
    return [*values, *[None] * (length - len(values))]


def sequences(left: Sequence[str], right: Sequence[str]) -> tuple[Line, ...]:
    """Compare two lists of lines, as for the actions of two sessions."""
    lines: list[Line] = []
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, start, end, other, last in matcher.get_opcodes():
        if tag == "equal":
            lines += [pair("", text, text) for text in left[start:end]]
            continue
        lines += [pair("", text, None) for text in left[start:end]]
        lines += [pair("", None, text) for text in right[other:last]]
    return tuple(lines)
