"""How long a text may be and how large a list, and the one place that cuts them.

The limits are those of the public origin (bytes, not characters); a cut never splits a character and is
always reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ghost_core.errors import UsageError

CONTENT_BYTES: Final = 8000
TITLE_BYTES: Final = 300
TAG_BYTES: Final = 64
TAGS: Final = 10
TAGS_LOOKED_AT: Final = 100  # of which ten are kept
ALTERNATIVES: Final = 20
LOOKED_AT: Final = 8  # times what is kept, when secrets are looked for
LIST_LIMIT: Final = 100
MOST_ROWS: Final = 2**53

CATEGORIES: Final = (
    "architecture", "decision", "pattern", "convention", "gotcha", "dependency", "preference", "fact",
)  # fmt: skip
SOURCES: Final = (
    "reflection", "chat", "manual", "tool", "mcp", "onboarding", "decision_log", "import",
)  # fmt: skip
TASK_STATES: Final = ("pending", "active", "done", "blocked")
DECISION_STATES: Final = ("active", "superseded", "revisit")
NEW_DECISION_STATES: Final = ("active", "revisit")


class Cut(NamedTuple):
    """A text within its limit, and whether some of it was left out."""

    text: str
    shortened: bool


class Fit(NamedTuple):
    """A text as it may be kept, whether some of it was left out, and how many secrets were."""

    text: str
    shortened: bool
    removed: int


def cut(text: str, limit: int) -> Cut:
    """Return the longest beginning of a text that has at most `limit` bytes of UTF-8."""
    data = text.encode()
    if len(data) <= limit:
        return Cut(text, shortened=False)
    return Cut(data[:limit].decode(errors="ignore"), shortened=True)


def plain(text: str) -> str:
    """Return a text that every store and client can hold: no lone surrogates, no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def fit(text: str, limit: int) -> Fit:
    """Return a text as it may be kept: one that every store can hold, without secrets, at most `limit` bytes.

    Secrets go before the end is cut off, so that no half of one stays; of what is far too long only the
    beginning is looked at.
    """
    looked_at, ended = cut(plain(text).strip(), LOOKED_AT * limit)
    from ghost_memory.screen import screen  # its patterns cost a start of a hook 5 ms

    clean, found = screen(looked_at)
    kept, shortened = cut(clean, limit)
    if ended and not shortened:
        kept = clean.rpartition(" ")[0]  # the last word may be a part of a secret
    return Fit(kept, shortened or ended, found)


def require_text(what: str, text: str, limit: int) -> Fit:
    """Return a text as it may be kept; raises UsageError `memory.<what>` where nothing is left of it."""
    kept = fit(text, limit)
    if not kept.text:
        raise UsageError(f"{what}: expected a text, found nothing", code=f"memory.{what}")
    return kept


def shown(text: str, limit: int = 80) -> str:
    """Return a text of somebody else's as an error may show it: quoted, short, without secrets."""
    return repr(fit(text, limit).text)


def tags_of(tags: Iterable[str]) -> list[str]:
    """Return the tags as they are kept: each once, cut, the first ten."""
    kept = (cut(plain(tag).strip(), TAG_BYTES).text for tag in tags)
    return list(dict.fromkeys(tag for tag in kept if tag))[:TAGS]


def kept_tags(tags: Sequence[str]) -> list[str]:
    """Return tags as they may be kept: without secrets, each once, the first ten."""
    return tags_of(fit(tag, TAG_BYTES).text for tag in tags[:TAGS_LOOKED_AT])


def importance_of(value: float) -> float:
    """Return an importance between 0 and 1; what is no number counts as 0."""
    return 0.0 if math.isnan(value) else min(1.0, max(0.0, value))


def limit_of(value: int, default: int) -> int:
    """Return how many rows a list may have; 0 and less mean the default."""
    return min(value, LIST_LIMIT) if value > 0 else default


def offset_of(value: int) -> int:
    """Return how many rows a page leaves out; no more than a database can count."""
    return min(max(0, value), MOST_ROWS)


def require_one_of(what: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return the value if it is allowed; raises UsageError `memory.<what>` naming all that are."""
    if value not in allowed:
        raise UsageError(
            f"{what}: expected one of {', '.join(allowed)}, found {shown(value, 40)}",
            code=f"memory.{what}",
        )
    return value
