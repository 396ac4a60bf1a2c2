"""Splitting text into the word pieces of an uncased BERT vocabulary, as the model was trained with.

Control characters go, accents and case too; punctuation and Han characters stand alone; then the longest
known beginning is taken, and again of what is left, which `##` marks. Any text can be split.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

LONGEST_WORD: Final = 100
_CONTINUED: Final = "##"
_SPACES: Final = "\t\n\r"
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
_HAN: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_ASCII_MARKS: Final = ((33, 47), (58, 64), (91, 96), (123, 126))


class Splitter:
    """Splits by one vocabulary, piece to number; a word that it cannot spell has no pieces."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._numbers = vocabulary

    def split(self, text: str) -> list[int]:
        """Return the numbers of the pieces, in order."""
        return [number for word in words(text) for number in self._pieces(word)]

    def _pieces(self, word: str) -> list[int]:
        found: list[int] = []
        start = 0
        while start < len(word):
            if len(word) > LONGEST_WORD:
                return []
            before = _CONTINUED if start else ""
            for end in range(len(word), start, -1):
                number = self._numbers.get(before + word[start:end])
                if number is not None:
                    break
            else:
                return []
            found.append(number)
            start = end
        return found


def words(text: str) -> list[str]:
    """Return the words of a text before they are cut into pieces."""
    if text.isascii():
        return "".join(_plain(each) for each in text.lower()).split()
    spaced = "".join(_cleaned(text))
    bare = unicodedata.normalize("NFD", spaced.lower())
    kept = (each for each in bare if unicodedata.category(each) != "Mn")
    return "".join(f" {each} " if _is_mark(each) else each for each in kept).split()


def _plain(each: str) -> str:
    """Return an ASCII character as it counts: a mark stands alone, a control character is not there."""
    if each.isalnum() or each == " ":
        return each
    if _is_mark(each):
        return f" {each} "
    return " " if each in _SPACES else ""


def _cleaned(text: str) -> Iterator[str]:
    for each in text:
        kind = unicodedata.category(each)
        if each in _SPACES or kind == "Zs":
            yield " "
        elif kind in _UNSEEN or each == "\N{REPLACEMENT CHARACTER}":
            continue
        else:
            yield f" {each} " if _within(ord(each), _HAN) else each


def _is_mark(each: str) -> bool:
    return _within(ord(each), _ASCII_MARKS) or unicodedata.category(each).startswith("P")


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
