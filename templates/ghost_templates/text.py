"""Text from outside made inert: what acts instead of showing is named, what deceives is marked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape

# Everything that is not an ordinary visible character, plus letters of the scripts that imitate Latin.
_LOOK = re.compile(r"[^\x20-\x7e\n]")
_WORD = re.compile(r"\w+")
_IMITATORS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ESCAPES = {"\t": "\t", "\r": ""}


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign and its tone; the sign carries the meaning, the colour only helps."""

    sign: str
    tone: str


GOOD = Mark("✓", "good")
BAD = Mark("✕", "bad")
WARN = Mark("!", "warn")
OPEN = Mark("?", "mute")
NONE = Mark("·", "mute")


def shown(value: object) -> Markup:
    """Escape for HTML; controls and bidi overrides are named, look-alike letters underlined."""
    text = str(value)
    if text.isascii() and text.isprintable():
        return Markup("<bdi>{}</bdi>").format(text)
    mixed = _deceptive(text)
    inner = Markup("").join(_pieces(text, mixed))
    return Markup("<bdi>{}</bdi>").format(inner)


def _pieces(text: str, mixed: frozenset[int]) -> list[Markup]:
    pieces: list[Markup] = []
    start = 0
    for found in _LOOK.finditer(text):
        special = _special(text, found.start(), mixed)
        if special is None:
            continue
        pieces += (escape(text[start : found.start()]), special)
        start = found.end()
    pieces.append(escape(text[start:]))
    return pieces


def _special(text: str, at: int, mixed: frozenset[int]) -> Markup | None:
    char = text[at]
    if char == "\r" and text[at + 1 : at + 2] != "\n":
        return _named("\\r")
    if char in _ESCAPES:
        return Markup(_ESCAPES[char])  # noqa: S704  # one of two constants
    kind = unicodedata.category(char)
    if kind in _HIDDEN:
        return _named(f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"U+{ord(char):04X}")
    if kind == "Mn" and text[at - 1 : at].isascii():
        return _named(f"U+{ord(char):04X}")
    if at in mixed or (kind == "Zs" and char != "\xa0"):
        name = unicodedata.name(char, f"U+{ord(char):04X}")
        return Markup('<span class="odd" title="U+{:04X} {}">{}</span>').format(
            ord(char), name, char
        )
    return None


def _named(text: str) -> Markup:
    return Markup('<span class="esc">{}</span>').format(text)


def _deceptive(text: str) -> frozenset[int]:
    """Return where letters imitate Latin: in a word that also has Latin ones, or in a host name."""
    places: set[int] = set()
    is_name = "." in text and not any(character.isspace() for character in text)
    for word in _WORD.finditer(text):
        foreign = [at for at in range(*word.span()) if _imitates(text[at])]
        if foreign and (is_name or len(foreign) < len(word.group())):
            places.update(foreign)
    return frozenset(places)


def _imitates(char: str) -> bool:
    return not char.isascii() and unicodedata.name(char, "").startswith(_IMITATORS)


def is_marked(page: str) -> bool:
    """Tell whether a rendered page holds a mark of this module."""
    return '<span class="esc">' in page or '<span class="odd"' in page


def moment(value: str | None) -> str:
    """Show an RFC 3339 instant as `12 Jun 2026, 15:32:00 UTC`; anything else as it is."""
    if not value:
        return "—"
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return value
    return f"{found.day} {_MONTHS[found.month - 1]} {found:%Y, %H:%M:%S} UTC"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def size(count: int) -> str:
    """Show bytes with a unit of a thousand: `812 B`, `1.3 kB`, `2.0 MB`."""
    if count < 1000:
        return f"{count} B"
    for unit, scale in (("kB", 1000), ("MB", 1000_000)):
        if count < scale * 1000:
            return f"{count / scale:.1f} {unit}"
    return f"{count / 1000_000_000:.1f} GB"


def span(microseconds: int) -> str:
    """Show a duration: `840 µs`, `412 ms`, `1.25 s`, `2 min 05 s`, `3 h 07 min`."""
    if microseconds < 1000:
        return f"{microseconds} µs"
    if microseconds < 1_000_000:
        return f"{microseconds // 1000} ms"
    seconds = microseconds / 1_000_000
    if seconds < 60:
        return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"
    if seconds < 3600:
        return _two(int(seconds), 60, "min", "s")
    return _two(int(seconds) // 60, 60, "h", "min")


def _two(value: int, base: int, large: str, small: str) -> str:
    whole, rest = divmod(value, base)
    return f"{whole} {large} {rest:02} {small}" if rest else f"{whole} {large}"
