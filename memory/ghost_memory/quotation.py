"""Stored text inside a block for a model: one line of data that can neither end its quotes nor play a part.

Whatever is stored may be hostile: marks of ours, role tags, fences and invisible characters are made inert.
"""

from __future__ import annotations

import re
from typing import Final

from ghost_memory.limits import cut

__all__ = ["inert", "label", "quote"]

MORE: Final = "…"
_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]+"
)
_TAG: Final = re.compile(r"<(?=[/|!?A-Za-z])")
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_INST: Final = re.compile(r"\[(/?(?:INST|SYS|SYSTEM))\]", re.IGNORECASE)


def inert(text: str) -> str:
    """Return a text on one line in which no tag, fence or quotation mark of ours is left."""
    line = " ".join(_UNSEEN.sub(" ", text).split())
    line = line.replace("«", "<<").replace("»", ">>")
    line = _TAG.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", line)
    return _INST.sub(r"(\1)", _FENCE.sub("'''", line))


def label(text: str, limit: int) -> str:
    """Return a name as it is kept and shown bare: inert, and nothing that ends the ticks around it."""
    return cut(inert(text).replace("`", "'"), limit).text.strip()


def quote(text: str, limit: int) -> str:
    """Return a text in quotes, cut to `limit` bytes, with an ellipsis where some is missing."""
    kept = cut(inert(text), limit)
    return f"«{kept.text.rstrip()}{MORE}»" if kept.shortened else f"«{kept.text}»"
