"""Words of a text: for search, for likeness, and for the digest that tells equal texts.

Nothing here can fail: any text has some words or none. The full-text index splits Latin and most other
scripts itself; text without spaces between words (Han, Kana, Hangul, Thai …) is cut into overlapping pairs.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final

QUERY_WORDS: Final = 32
PROBE_WORDS: Final = 30

_WORD: Final = re.compile(r"\w+", re.UNICODE)
_COMPOUND: Final = re.compile(r"[^\W_]+(?:(?:[./:@#+-]|::|_)[^\W_]+)+", re.UNICODE)
_VOWEL_Y: Final = re.compile(r"(?P<base>[a-z]+[aeiou]y)(?P<end>s|ed|ing|ments?|)")
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)
_STOPS: Final = """\
a about after all also am an and any are as at be because been before being but by can could did do
does doing done down each few for from further had has have having he her here hers him his how i if
in into is it its just me more most my no nor not now of off on once only or other our out over own
same she should so some such than that the their them then there these they this those through to
too under until up us use used uses using very was we were what when where which while who whom why
will with would you your yours"""
STOP_WORDS: Final = frozenset(_STOPS.split())
"""English function words: as terms of a search they match everything and cost most of its time."""

NEGATIONS: Final = frozenset({"not", "never", "no", "without"})
"""Function words that a question hardly ever has by chance: one stands for all, for a rule says `never`."""


def normal(text: str) -> str:
    """Return the text in one spelling: NFKC, folded, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def digest(text: str) -> str:
    """Return what two texts share that differ in spaces only: 32 hex digits.

    Case and width stay: `Mb` is not `MB`, and `10²` is not `102`.
    """
    same = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tokens(text: str) -> frozenset[str]:
    """Return the words that likeness compares: letters and digits, longer than one byte."""
    found = re.split(r"[\W_]+", normal(text))
    return frozenset(word for word in found if len(word.encode("utf-8", "replace")) > 1)


def pairs(text: str) -> str:
    """Return what the index would not find in a text by itself, as words of their own.

    These are the parts of words with an unspaced run (its overlapping pairs, what is glued to it, and its
    last character, so that every one begins a part), and words that NFKC spells otherwise.
    """
    written = frozenset(_WORD.findall(text))
    normal_words = _WORD.findall(unicodedata.normalize("NFKC", text))
    return " ".join(part for word in normal_words for part in _further(word, written))


def query(text: str, *, limit: int = QUERY_WORDS) -> str:
    """Return a full-text query that finds any of the words; `""` where there is none.

    Every term is quoted, so no operator, column or stray quote of the text means anything. Stop words are
    left out unless there is nothing else. What is written as one (`192.168.9.150`, `pre-edit`) is a phrase
    beside its parts, so the whole ranks above the pieces. Words that occur twice count once. A single
    character of an unspaced script finds all parts that begin with it.
    """
    asked = telling(text)
    whole = _compounds(unicodedata.normalize("NFKC", text))
    refused = NEGATIONS if NEGATIONS & {word.casefold() for word in every(text)} else ()
    found = dict.fromkeys((*asked, *whole, *_kin(asked), *sorted(refused)))
    return either(map(_term, islice(found, limit)))


def terms(text: str, *, limit: int) -> list[str]:
    """Return the first telling words of a text as quoted terms of a full-text query, each once."""
    return [_term(word) for word in telling(text)[:limit]]


def either(terms: Iterable[str]) -> str:
    """Return the query that finds any of these terms."""
    return " OR ".join(terms)


def telling(text: str) -> list[str]:
    """Return the words of a text that say what it is about; all of them if none does."""
    found = every(text)
    return [word for word in found if word.casefold() not in STOP_WORDS] or found


def every(text: str) -> list[str]:
    """Return the words of a text, each once; unspaced runs as pairs."""
    return list(dict.fromkeys(_terms(unicodedata.normalize("NFKC", text))))


def _term(word: str) -> str:
    return f'"{word}"{"*" * _is_lone(word)}'


def _is_lone(term: str) -> bool:
    return len(term) == 1 and _UNSPACED.match(term) is not None


def _further(word: str, written: frozenset[str]) -> Iterator[str]:
    if _UNSPACED.search(word):
        yield from _terms(word)
        yield from (run.group()[-1] for run in _UNSPACED.finditer(word))
    elif word not in written:
        yield word


def _kin(asked: Iterable[str]) -> Iterator[str]:
    """Yield what Porter's stemmer wrongly keeps apart: `deploy` becomes `deploi`, `deployment` `deploy`."""
    for word in asked:
        found = _VOWEL_Y.fullmatch(word.casefold())
        if found:
            yield found["base"] if found["end"].startswith("ment") else f"{found['base']}ment"


def _compounds(text: str) -> Iterator[str]:
    """Yield what is written as one of several parts that the index splits."""
    for found in _COMPOUND.findall(text):
        if any(part.casefold() not in STOP_WORDS for part in re.split(r"[\W_]+", found)):
            yield found


def _terms(text: str) -> Iterator[str]:
    """Yield words, and in their place the pairs of an unspaced run; one alone stands for itself."""
    for word in _WORD.findall(text):
        rest = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > rest:
                yield word[rest : run.start()]
            yield from _pairs(run.group()) if len(run.group()) > 1 else (run.group(),)
            rest = run.end()
        if rest < len(word):
            yield word[rest:]


def _pairs(text: str) -> Iterator[str]:
    for run in _UNSPACED.findall(text):
        yield from (one + two for one, two in pairwise(run))
