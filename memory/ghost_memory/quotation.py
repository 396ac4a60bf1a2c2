"""Stored text shown to a model: data between « and » that can neither end its quotes nor play a part.

Whatever is stored may be hostile: marks of ours, role tags and invisible characters are made inert. `quoted`
keeps the lines of a text that was asked for, `quote` makes one line of what stands in a block unasked, where
fences and every tag go too.
"""

from __future__ import annotations

import re
from typing import Final

from ghost_memory.limits import cut

__all__ = ["MORE", "harmless", "inert", "label", "quote", "quoted"]

MORE: Final = "…"
_TICK: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"

_UNSEEN: Final = re.compile(
    # Controls but tab and line end; all that Unicode calls ignorable, with what turns the direction around.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
    # Joiners and selectors belong to scripts and emoji one or two at a time; a row of them spells something.
    "|[\u200c\u200d\ufe00-\ufe0f]{3,}"
)
_ENDS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_ROLE: Final = re.compile(
    r"<(?=[|]|/?(?:system(?:-reminder)?|assistant|user|human|tools?|tool_(?:use|call|result)s?"
    r"|function_(?:call|result)s?|antml:\w+)[\s>])",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<(?=[/|!?A-Za-z])")
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_INST: Final = re.compile(r"\[(/?(?:INST|SYS|SYSTEM))\]", re.IGNORECASE)


def quoted(text: str) -> str:
    """Return a text as data with its lines: one quotation that nothing inside it can end."""
    return f"«{harmless(text)}»"


def harmless(text: str) -> str:
    """Return a text whose further lines are indented, so that none passes for a line of ours."""
    return _clean(_ENDS.sub("\n", text)).replace("\n", "\n  ")


def quote(text: str, limit: int) -> str:
    """Return a text in quotes on one line, cut to `limit` bytes, with an ellipsis where some is missing."""
    kept = cut(inert(text), limit)
    return f"«{kept.text.rstrip()}{MORE}»" if kept.shortened else f"«{kept.text}»"


def inert(text: str) -> str:
    """Return a text on one line in which no tag or fence is left."""
    line = " ".join(_clean(" ".join(text.split())).split())
    return _FENCE.sub("'''", _TAG.sub(_TICK, line))


def label(text: str, limit: int) -> str:
    """Return a name as it is kept and shown bare: inert, and nothing that ends the ticks around it."""
    return cut(inert(text).replace("`", "'"), limit).text.strip()


def _clean(text: str) -> str:
    """Return a text without marks of ours, role tags, and what nobody sees."""
    seen = _UNSEEN.sub("", text).replace("«", "<<").replace("»", ">>")
    return _INST.sub(r"(\1)", _ROLE.sub(_TICK, seen))
