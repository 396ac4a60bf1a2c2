"""The table of a battery of scenarios: what was sent, and what upstream, agent and record saw of it.

A test of the battery carries `@scenario("two-hosts", 1, "…")`; tests with one id are variants of one row.
"""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass, field

import pytest

COLUMNS = ("id", "sent", "upstream saw", "agent got", "record says", "verdict")
SEVERITIES = {
    1: "S1: a secret leaves, a gate is passed, evidence is falsified",
    2: "S2: an allowed job fails, hangs or runs twice",
    3: "S3: set-up and clarity",
}
MOST = 4  # different things that one cell names


def scenario(name: str, severity: int, sent: str) -> pytest.MarkDecorator:
    """Mark a test as a variant of a scenario of the battery."""
    return pytest.mark.scenario(name, severity, sent)


@dataclass(slots=True)
class Sight:
    """What three witnesses saw in one variant, in words; in order and without doubles."""

    upstream: list[str] = field(default_factory=list)
    agent: list[str] = field(default_factory=list)
    record: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Variant:
    """One test of a scenario and how it ended: passed, failed or skipped."""

    outcome: str
    sight: Sight


@dataclass(slots=True)
class Row:
    """A scenario and its variants."""

    name: str
    severity: int
    sent: str
    variants: list[Variant] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many variants did not hold."""
        return sum(variant.outcome == "failed" for variant in self.variants)

    @property
    def verdict(self) -> str:
        """`holds`, `FAILS` or `skipped`, and of how many variants."""
        tried = [variant for variant in self.variants if variant.outcome != "skipped"]
        if not tried:
            return "skipped"
        if self.failed:
            return f"FAILS {self.failed} of {len(tried)}"
        return "holds" if len(tried) == 1 else f"holds {len(tried)} of {len(tried)}"

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        seen = [
            _joined([text for variant in self.variants for text in getattr(variant.sight, name)])
            for name in ("upstream", "agent", "record")
        ]
        return (self.name, self.sent, *seen, self.verdict)


class Board:
    """All rows, by id."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def open(self, name: str, severity: int, sent: str) -> Row:
        """Return the row of a scenario; raises ValueError where two tests disagree about it."""
        row = self.rows.setdefault(name, Row(name, severity, sent))
        if (row.severity, row.sent) != (severity, sent) or severity not in SEVERITIES:
            raise ValueError(
                f"scenario {name!r}: two tests describe it differently, or no severity"
            )
        return row

    @property
    def tried(self) -> list[Row]:
        """The rows of which at least one variant was run, by severity and id."""
        rows = [row for row in self.rows.values() if row.variants]
        return sorted(rows, key=lambda row: (row.severity, row.name))

    def summary(self) -> str:
        """Return the last line: how many scenarios and variants, and whether any fails."""
        rows = self.tried
        variants = sum(len(row.variants) for row in rows)
        failing = [row.name for row in rows if row.failed]
        end = f"failing: {', '.join(failing)}" if failing else "none fails"
        skipped = sum(row.verdict == "skipped" for row in rows)
        end += f" ({skipped} skipped)" if skipped else ""
        return f"{len(rows)} scenarios in {variants} variants, {end}"

    def markdown(self) -> str:
        """Return the tables as Markdown, one for each severity."""
        parts = ["# Scenarios", "", self.summary().capitalize() + "."]
        for severity, title in SEVERITIES.items():
            rows = [row for row in self.tried if row.severity == severity]
            if rows:
                parts += ["", f"## {title}", "", _line(COLUMNS), _line(["---"] * len(COLUMNS))]
                parts += [_line([_escaped(cell) for cell in row.cells()]) for row in rows]
        return "\n".join(parts) + "\n"

    def text(self, width: int = 0) -> str:
        """Return the tables for a terminal of so many columns, by default of this one."""
        width = width or max(120, shutil.get_terminal_size((160, 40)).columns)
        parts: list[str] = []
        for severity, title in SEVERITIES.items():
            rows = [row for row in self.tried if row.severity == severity]
            if rows:
                parts += ["", title, *_table([COLUMNS, *(row.cells() for row in rows)], width)]
        return "\n".join([*parts, "", self.summary()])


def _joined(texts: list[str]) -> str:
    """Name different things once; of many the first ones and the number of the others."""
    once = list(dict.fromkeys(texts))
    rest = len(once) - MOST
    return "; ".join(once if rest <= 0 else [*once[:MOST], f"{rest} more"])


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("<", "&lt;")


def _table(rows: list[tuple[str, ...]], width: int) -> list[str]:
    first = max(len(row[0]) for row in rows)
    last = max(len(row[-1]) for row in rows)
    middle = (width - first - last - 2 * (len(COLUMNS) - 1)) // (len(COLUMNS) - 2)
    widths = [first, *[middle] * (len(COLUMNS) - 2), last]
    lines: list[str] = []
    for number, row in enumerate(rows):
        cells = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
        for index in range(max(len(cell) for cell in cells)):
            parts = [cell[index] if index < len(cell) else "" for cell in cells]
            padded = [part.ljust(size) for part, size in zip(parts, widths, strict=True)]
            lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("-" * size for size in widths))
    return lines
