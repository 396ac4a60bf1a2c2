"""What a tool answers: a text for the model, and the same as data for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ghost_core.errors import UsageError
from ghost_memory.server.budget import ANSWER_COST, LEAST, clip, cost, share

__all__ = ["Answer", "Entry", "Page", "paged", "start_of"]

_ROOM: Final = 600  # for the line that says how much was shown, and the fields around the list
_MARKS: Final = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one call; `failed` marks one that tells what to do differently."""

    text: str
    data: Mapping[str, object] = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a list: its texts, and how it looks with these texts, as a line and as data."""

    texts: tuple[str, ...]
    line: Callable[[Sequence[str]], str]
    data: Callable[[Sequence[str]], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list: the rows of the store, where it starts, how many there are in all."""

    entries: Sequence[Entry]
    start: int
    total: int
    name: str


def start_of(cursor: str) -> int:
    """Return the row at which a page starts. Raises UsageError `memory.cursor` for what is none of ours."""
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 9):
        raise UsageError(
            "cursor: expected the cursor of the answer before, or nothing", code="memory.cursor"
        )
    return int(cursor)


def paged(
    page: Page, *, none: str, heading: str = "", more: Mapping[str, object] | None = None
) -> Answer:
    """Return the rows that fit into an answer, what is left and how to get it; long texts are cut."""
    shown = _fitting(page.entries)
    end = page.start + len(shown)
    cursor = str(end) if shown and end < page.total else ""
    lines = [line for line, _ in shown] or [none]
    if cursor or page.start:
        said = f"({len(shown)} of {page.total} shown"
        lines.append(f'{said}; the next with cursor "{cursor}")' if cursor else f"{said})")
    data = {
        page.name: [data for _, data in shown],
        "total": page.total,
        "next_cursor": cursor,
        **(more or {}),
    }
    return Answer("\n".join([*([heading] if heading else []), *lines]), data)


type _Shown = tuple[str, Mapping[str, object]]


def _fitting(entries: Sequence[Entry]) -> list[_Shown]:
    """Return the rows whose text and data both keep the budget: first texts are cut, then rows left out."""
    count = len(entries)
    while count:
        shown = _cut(entries[:count])
        if _within(shown) or count == 1:
            return shown
        count -= max(1, count // 8)
    return []


def _cut(entries: Sequence[Entry]) -> list[_Shown]:
    """Cut the texts so that they share what the rest of the rows leaves; short ones stay whole."""
    bare = sum(_larger(each, [""] * len(each.texts)) for each in entries)
    texts = [text for each in entries for text in each.texts]
    free = ANSWER_COST - _ROOM - bare - _MARKS * len(texts)
    level = max(LEAST, share([_twice(text) for text in texts], free))
    return [
        (each.line(kept), each.data(kept))
        for each in entries
        for kept in [[_clipped(text, level) for text in each.texts]]
    ]


def _clipped(text: str, level: int) -> str:
    """Clip by the dearer of both forms: JSON spells line ends and quotes with two characters."""
    return text if _twice(text) <= level else clip(text, level * cost(text) // max(1, _twice(text)))


def _twice(text: str) -> int:
    return max(cost(text) + 2 * text.count("\n"), cost(json.dumps(text, ensure_ascii=False)))


def _larger(entry: Entry, texts: Sequence[str]) -> int:
    return max(cost(entry.line(texts)) + 1, cost(_json(entry.data(texts))) + 1)


def _within(shown: Sequence[_Shown]) -> bool:
    text = sum(cost(line) + 1 for line, _ in shown)
    data = sum(cost(_json(data)) + 1 for _, data in shown)
    return max(text, data) <= ANSWER_COST - _ROOM


def _json(data: Mapping[str, object]) -> str:
    return json.dumps(data, ensure_ascii=False)
