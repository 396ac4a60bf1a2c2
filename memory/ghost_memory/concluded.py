"""Which memories are evidence of something finished: told by words, never by a model, and never on a guess.

A fragment such as `fixed in` only makes a candidate. What is marked must be confirmed by a rule: a newer
memory replaces it, or the text itself opens by saying so, or it is a record by its kind (a changelog, an
investigation note). An instruction, or anything that is still open, is never marked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from ghost_memory.values import Memory

__all__ = ["Judged", "judge"]

KEPT: Final = frozenset({"convention", "preference"})
FRAGMENTS: Final = (
    "no-go", "resolved", "shipped", "retracted", "superseded", "abandoned", "fixed in", "removed", "merged",
    "kill experiment", "root cause", "concluded", "closed", "reverted", "deprecated", "landed in",
    "cost estimate", "postmortem", "changelog:", "investigation note", "pr locator", "reference only",
    "history only", "no follow-up", "completed",
)  # fmt: skip
RECORDS: Final = (
    "changelog:", "investigation note", "postmortem", "pr locator", "reference only", "history only",
    "no follow-up", "cost estimate",
)  # fmt: skip

_SAID: Final = re.compile(
    r"[\s*_\[(#>-]*(?:resolved|closed|done|completed|retracted|abandoned|superseded|shipped|closed-by)\b"
    r"\s*[\])*_]*\s*(?::|\]|\)|—|-\s|by\b|in\b)"
)
_RULE: Final = re.compile(
    r"\b(?:always|never|must|do not|don't|should|shall|avoid|make sure|ensure|remember to|need to|needs to"
    r"|required?)\b|(?:^|[.!\n]\s*)(?:use|keep|run|set|prefer|check|call|pass|add)\b"
)
_OPEN: Final = re.compile(
    r"\b(?:not yet|to-?do|fixme|wip|still (?:pending|open|failing|broken|needs?)|pending|in progress"
    r"|unresolved|reopened|open question|follow-up (?:needed|required)|blocked|remains?|awaiting"
    r"|partially|until"
    r"|(?:not|isn't|wasn't|never|cannot be) (?:\w+ )?"
    r"(?:fixed|resolved|closed|merged|shipped|completed|removed))\b"
)

type Because = Literal["replaced", "said", "record", "unsure", "rule", "open"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A memory that may be concluded evidence, and why; `confirmed` if a rule says so."""

    memory: Memory
    because: Because

    @property
    def confirmed(self) -> bool:
        """Tell whether a rule, not only a fragment, says that it is concluded."""
        return self.because in {"replaced", "said", "record"}


def judge(memories: Iterable[Memory], replaced: Collection[str]) -> list[Judged]:
    """Return every candidate with its reason; `replaced` are the ids that a newer memory supersedes."""
    found = []
    for memory in memories:
        if memory.pinned or memory.resolved_at or memory.category in KEPT:
            continue
        because = "replaced" if memory.id in replaced else _told(memory.content)
        if because is not None:
            found.append(Judged(memory, because))
    return found


def _told(content: str) -> Because | None:
    text = content.casefold()
    if not any(fragment in text for fragment in FRAGMENTS) and not _SAID.match(text):
        return None
    if _OPEN.search(text):
        return "open"
    if _RULE.search(text):
        return "rule"
    if _SAID.match(text):
        return "said"
    return "record" if text.lstrip("#*_[( ").startswith(RECORDS) else "unsure"
