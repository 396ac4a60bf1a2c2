"""What names have in common that some server takes for the same, in time that grows with their length alone.

Normalizing a whole text sorts the accents behind a letter, in time that grows with the square of their
number, and nobody else gets a turn meanwhile. So each character is folded for itself.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ghost_hooks.percent import PIECE

MARK = re.compile(r"\s*[_.\[]")
_DROPPED = frozenset("_-.[]!\"'`\\")


def folded(name: str) -> str:
    """Return what is left without what does not count.

    Case, width, accents, spaces, controls and separators do not count; a leading `_` does.
    """
    parts = (name[at : at + PIECE] for at in range(0, len(name), PIECE))
    kept = "".join(each.translate(_FOLDS) for each in parts)
    return f"_{kept}" if kept and MARK.match(name) else kept


@lru_cache(maxsize=4096)
def _folded(code: int) -> str | None:
    plain = unicodedata.normalize("NFKD", chr(code).upper()).casefold()
    return "".join(each for each in plain if each not in _DROPPED and _counts(each)) or None


def _counts(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] not in "CZ" and category != "Mn"


class _Folds(dict[int, str | None]):
    """A table for `str.translate` that keeps the characters of ASCII only."""

    def __missing__(self, code: int) -> str | None:
        return _folded(code)


_FOLDS = _Folds((code, _folded(code)) for code in range(128))
