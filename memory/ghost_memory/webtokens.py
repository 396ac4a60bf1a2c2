"""Finds JSON web tokens: two parts that begin as base64 of `{"` and a third, with points between them.

As one regular expression this form reads to the end of a part from each place where a token could begin,
which takes the square of the time in a text of many beginnings. Here every part is read once.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

__all__ = ["WebTokens"]

LONG_ENOUGH: Final = 8
_PART: Final = re.compile(r"[A-Za-z0-9_-]+")
_BEGINS: Final = re.compile(rf"\beyJ[A-Za-z0-9_-]{{{LONG_ENOUGH}}}")


class _Run(NamedTuple):
    """A first part, and where the token that begins in it ends."""

    first: int
    last: int
    end: int


class WebTokens:
    """The web tokens of a text, asked for from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._runs = _runs(text)[::-1]

    def next(self, at: int) -> tuple[int, int] | None:
        """Return where the next token begins and ends, no earlier than `at`, which never goes back."""
        while self._runs:
            first, last, end = self._runs[-1]
            begins = _BEGINS.search(self._text, max(first, at), last)
            if begins:
                return begins.start(), end
            self._runs.pop()
        return None


def _runs(text: str) -> list[_Run]:
    """Return the parts that a token could begin in: a second and a third one follow."""
    if ".eyJ" not in text:
        return []
    parts = [each.span() for each in _PART.finditer(text)]
    follows = [two[0] == one[1] + 1 and text[one[1]] == "." for one, two in pairwise(parts)]
    return [
        _Run(*parts[place], parts[place + 2][1])
        for place, (second, third) in enumerate(pairwise(follows))
        if second and third and _is_second(text, parts[place + 1]) and _long(parts[place + 2])
    ]


def _is_second(text: str, part: tuple[int, int]) -> bool:
    return text.startswith("eyJ", part[0]) and part[1] - part[0] >= LONG_ENOUGH + 3


def _long(part: tuple[int, int]) -> bool:
    return part[1] - part[0] >= LONG_ENOUGH
