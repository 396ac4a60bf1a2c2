"""Finds secrets in what an agent wants to keep; they are replaced before anything is stored or indexed.

Looked for are formats that nothing else has: prefixes of vendors, private key blocks, tokens in headers,
passwords in addresses, and values that are assigned to a name like `api_key` and look random. A mere mention
(`no API key in the build`, `apiKey: import.meta.env.X`, a git hash) stays.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ghost_memory.webtokens import WebTokens

MARK: Final = "[secret removed by ghost]"
_BITS: Final = 3.2  # per character; words of prose and identifiers lie below, random text above
_LENGTH: Final = 16

_FORMS: Final = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{30,255}\b",
    r"\bgithub_pat_[A-Za-z0-9_]{40,255}\b",
    r"\bglpat-[A-Za-z0-9_-]{20,}\b",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}\b",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b",
    r"\bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{20,}\b",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\bya29\.[A-Za-z0-9_-]{20,}",
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\bpypi-[A-Za-z0-9_-]{40,}",
    r"\bhf_[A-Za-z0-9]{30,}\b",
    r"\bdop_v1_[a-f0-9]{64}\b",
    r"\bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{30,}",
    r"\bghtoken_[A-Za-z0-9_.-]{20,}",
)
_SURE: Final = re.compile("|".join(_FORMS), re.DOTALL)
_IN_ADDRESS: Final = re.compile(
    r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,64}:)(?P<value>[^\s@/]{3,})(?=@)",
    re.IGNORECASE,
)
_IN_HEADER: Final = re.compile(
    r"(?P<keep>\b(?:bearer|basic|token)\s+)(?P<value>[A-Za-z0-9+/_.=~-]{16,})", re.IGNORECASE
)
_ASSIGNED: Final = re.compile(
    r"(?P<keep>\b[\w.-]{0,40}(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|access[_-]?key"
    r"|credential)[\w-]{0,20}"
    r"[\"']?\s*(?::|=|=>|\bis\b)\s*[\"'`]?)(?P<value>[^\s\"'`,;]{8,})",
    re.IGNORECASE,
)


class Screened(NamedTuple):
    """A text that may be kept, and how many secrets were taken out."""

    text: str
    found: int


def screen(text: str) -> Screened:
    """Replace every secret by a mark."""
    clean, found = _without_sure(text)
    for form, is_secret in _BY_PLACE:
        clean, more = _replaced(clean, form, is_secret)
        found += more
    return Screened(clean, found)


def looks_random(value: str) -> bool:
    """Tell whether a value can hardly be a word, a path, a name or a reference to a variable."""
    if len(value) < _LENGTH or value == MARK or _is_reference(value):
        return False
    kinds = sum(any(test(letter) for letter in value) for test in _KINDS)
    return kinds >= 2 and _bits_per_letter(value) >= _BITS  # letters and digits at least


def _without_sure(text: str) -> Screened:
    kept, end, found = [], 0, 0
    for first, last in _sure(text):
        kept += [text[end:first], MARK]
        end, found = last, found + 1
    return Screened("".join([*kept, text[end:]]), found)


def _sure(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the sure forms are, from left to right; no two begin at one place."""
    tokens = WebTokens(text)
    form, token = _form(text, 0), tokens.next(0)
    while both := [each for each in (form, token) if each]:
        first, last = min(both)
        yield first, last
        form = _form(text, last) if form and form[0] < last else form
        token = tokens.next(last) if token and token[0] < last else token


def _form(text: str, at: int) -> tuple[int, int] | None:
    found = _SURE.search(text, at)
    return found.span() if found else None


def _replaced(text: str, form: re.Pattern[str], is_secret: Callable[[str], bool]) -> Screened:
    found = 0

    def put(match: re.Match[str]) -> str:
        nonlocal found
        if not is_secret(match["value"]):
            return match.group()
        found += 1
        return match["keep"] + MARK

    return Screened(form.sub(put, text), found)


def _is_reference(value: str) -> bool:
    """Tell whether it only names a place: a variable, a path, an address, a reference of ours."""
    named = re.match(r"[$<{%]|\w+:|[./~]", value) is not None
    return named or re.fullmatch(r"[A-Za-z_]+(?:[.:-][A-Za-z_]+)*(?:\(.*)?", value) is not None


def _bits_per_letter(value: str) -> float:
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())


def _is_password(value: str) -> bool:
    return not re.fullmatch(r"[$<{*].*|\*+|x+|password|pass|secret", value, re.IGNORECASE)


_KINDS: Final = (str.isdigit, str.islower, str.isupper)
_BY_PLACE: Final = (
    (_IN_ADDRESS, _is_password),
    (_IN_HEADER, looks_random),
    (_ASSIGNED, looks_random),
)
