"""Whether what was found can answer: by how much of the question's own words the best hits say.

A score tells order, not truth: the best of nothing is still the best. So the question is asked again, word
by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ghost_memory import words
from ghost_memory.asking import Verdict

ENOUGH: Final = 0.4
FULL: Final = 0.5
"""The share of the question's words from which on words alone are trusted to order the hits."""

LOOKED_AT: Final = 3

_ENDINGS: Final = re.compile(r"(?:ions?|ings?|ed|es|e|s|ly|ers?|ments?|y)$")


def judge(
    text: str, best: Sequence[str], *, withheld: int, by_words: bool = True
) -> tuple[Verdict, str]:
    """Return the verdict and its reason over the texts of the best hits; `by_words` if words found one.

    Reasons: `no match`, `all withheld`, `few words shared`, `no word shared, by meaning only`; none for what
    is answerable.
    """
    if not best:
        return "empty", "all withheld" if withheld else "no match"
    if max(coverage(text, each) for each in best[:LOOKED_AT]) >= ENOUGH:
        return "answerable", ""
    return "weak", "few words shared" if by_words else "no word shared, by meaning only"


def coverage(question: str, text: str) -> float:
    """Return the share of the question's telling words that a text has, 0 to 1, regardless of endings."""
    asked = stems(words.telling(question))
    if not asked:
        return 0.0
    return len(asked & stems(words.every(text))) / len(asked)


def stems(found: Iterable[str]) -> frozenset[str]:
    """Return the words without the endings that English changes; numbers and short words as they are."""
    return frozenset(_stem(word.casefold()) for word in found)


def _stem(word: str) -> str:
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    short = _ENDINGS.sub("", word)
    short = short.removesuffix("at") if len(short) > 4 else short  # rotate, rotation
    return short if len(short) >= 3 else word
