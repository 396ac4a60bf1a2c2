"""What a search is asked and what it answers; the vector leg as a protocol, so that search needs no model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ghost_memory.values import Memory

type Verdict = Literal["answerable", "weak", "empty"]


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; `project` is an id, None means all projects."""

    text: str
    project: str | None = None
    category: str = ""
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found, and why: `legs` holds the scores that made up `score`.

    `replaced_by` is the id of the newest memory that supersedes it, `label` what a reader must know
    (`replaced`, `resolved`, `no longer valid`), both empty for what holds.
    """

    memory: Memory
    project: str
    score: float
    replaced_by: str = ""
    label: str = ""
    legs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a search; `withheld` counts what was left out on purpose, `reason` says why.

    `degraded` tells that the vector leg could not be asked, and why.
    """

    hits: tuple[Hit, ...]
    verdict: Verdict
    reason: str = ""
    total: int = 0
    withheld: int = 0
    degraded: str = ""


class Vectors(Protocol):
    """The vector leg: who is near to a text in meaning."""

    @property
    def weight(self) -> float:
        """Its share in the mix, as it was measured for this embedder: 0 to 1."""
        ...

    def near(
        self, text: str, *, projects: Collection[str] | None, limit: int
    ) -> Mapping[str, float]:
        """Return cosines by memory id, the nearest `limit` of these projects (None: all).

        Raises UnavailableError where the model cannot be asked now.
        """
        ...
