"""Looks for the likely twin of a text that is to be saved, by its rare words."""

from __future__ import annotations

from typing import Final

from sqlalchemy.engine import Connection

from ghost_memory import fulltext, words
from ghost_memory.likeness import likeness

__all__ = ["twin"]

CANDIDATES: Final = 15
RARE: Final = 100
"""A word of fewer memories than this is rare: more would be ranked for nothing."""

_FEWEST: Final = 3  # rare words; with fewer, all words are asked


def twin(connection: Connection, project: str, category: str, text: str) -> tuple[str, float]:
    """Return the likeliest twin of a text in its project and category, and the score; 0 for none."""
    mine = words.tokens(text)
    asked = words.terms(text, limit=words.PROBE_WORDS)
    if not mine or not asked:
        return "", 0.0
    probe = words.either(_rare(connection, asked) or asked)
    best = ("", 0.0)
    found = fulltext.likely(connection, probe, project=project, category=category, limit=CANDIDATES)
    for memory_id, content in found:
        score = likeness(mine, words.tokens(content))
        if score > best[1]:
            best = (memory_id, score)
    return best


def _rare(connection: Connection, terms: list[str]) -> list[str]:
    """Return the rare ones of the terms, none if they are too few to go by.

    To rank a word that stands in every third memory costs more than all the rest of a save.
    """
    common = fulltext.common(connection, terms, at_least=RARE)
    rare = [term for number, term in enumerate(terms) if number not in common]
    return rare if len(rare) >= _FEWEST else []
