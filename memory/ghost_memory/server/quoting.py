"""Stored text shown to a model: quoted, so that it reads as data, and never more than a host can take.

Whatever an agent once saved stands between « and »; the same marks inside become << and >>. Control
characters and direction overrides are left out, and further lines are indented, so that no stored text can
pass for a line of ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

ANSWER_COST: Final = 10_000
"""What each form of an answer, text and structured, may cost; together below a host's 25,000 tokens."""

LEAST: Final = 200
MORE: Final = "…"

_ODD: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_ROLE: Final = re.compile(
    r"<(?=[|]|/?(?:system(?:-reminder)?|assistant|user|human|tools?|tool_(?:use|call|result)s?"
    r"|function_(?:call|result)s?|antml:\w+)[\s>])",
    re.IGNORECASE,
)
_CHEAP: Final = re.compile(r"[A-Za-z ]")


def quoted(text: str) -> str:
    """Return a stored text as data: one quotation that nothing inside it can end."""
    return f"«{harmless(text)}»"


def harmless(text: str) -> str:
    """Return a stored text without quotation marks of ours, role tags, controls, or lines of its own."""
    inner = text.replace("«", "<<").replace("»", ">>").replace("\r\n", "\n")
    inner = _ROLE.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", _ODD.sub("", inner))
    return inner.replace("\n", "\n  ")


def cost(text: str) -> int:
    """Return a bound for the tokens of a text: half of its letters and spaces, every other byte in full."""
    cheap = len(_CHEAP.findall(text))
    return len(text.encode("utf-8", "replace")) - cheap + (cheap + 1) // 2


def clip(text: str, limit: int) -> str:
    """Return the longest beginning of a text that costs at most `limit`, with an ellipsis if it was cut."""
    if cost(text) <= limit:
        return text
    low, high = 0, min(len(text), 2 * limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(text[:middle]) < limit else (low, middle - 1)
    return text[:low].rstrip() + MORE


def share(costs: Sequence[int], budget: int) -> int:
    """Return the most that each may cost so that all together keep the budget: the small ones stay whole."""
    left, level = budget, 0
    for number, each in enumerate(sorted(costs)):
        level = left // (len(costs) - number)
        if each > level:
            return level
        left -= each
    return max(level, *costs) if costs else budget
