"""What memory hands out: plain frozen values, no rows.

`ghost context` loads them at every start of an agent; the module of dataclasses alone costs it a fifth.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

GLOBAL = "_global"
"""The project whose memories are shown in every project."""


class Memory(NamedTuple):
    """One memory as it is stored; times RFC 3339 UTC text."""

    id: str
    project_id: str
    category: str
    content: str
    importance: float
    tags: tuple[str, ...]
    pinned: bool
    source: str
    created_at: str
    updated_at: str
    seq: int
    access_count: int = 0
    resolved_at: str | None = None
    valid_until: str | None = None
    agent: str | None = None
    session_id: str | None = None


class Project(NamedTuple):
    """A bucket of memories; `path` equals the id while no checkout is known.

    `memories` is counted where all projects are listed, and 0 elsewhere.
    """

    id: str
    name: str
    path: str
    remote: str | None
    memories: int = 0


class Task(NamedTuple):
    """Something to be done; priority 0 is critical, 4 low."""

    id: str
    project_id: str
    title: str
    description: str
    status: str
    priority: int
    notes: str
    created_at: str
    updated_at: str
    completed_at: str | None


class Decision(NamedTuple):
    """A choice between alternatives."""

    id: str
    project_id: str
    title: str
    decision: str
    rationale: str
    alternatives: tuple[str, ...]
    status: str
    superseded_by: str | None
    tags: tuple[str, ...]
    memory_id: str | None
    created_at: str
    updated_at: str


class Saved(NamedTuple):
    """What a save did: the row, and its likely twin with the score, or that the same text was there."""

    id: str
    existing: bool = False
    twin: str = ""
    likeness: float = 0.0
    shortened: bool = False
    removed: int = 0
    superseded: tuple[str, ...] = ()


class Recorded(NamedTuple):
    """The two ids of a decision, and of the one it replaces, what could not be done."""

    decision_id: str
    memory_id: str
    warning: str = ""
    removed: int = 0


def listed(text: str) -> tuple[str, ...]:
    """Read a JSON list of strings as it is stored; whatever else stands there is no list."""
    try:
        found: Any = json.loads(text)
    except ValueError:
        return ()
    return tuple(str(each) for each in found) if isinstance(found, list) else ()


def stored(texts: tuple[str, ...] | list[str]) -> str:
    """Write a list of strings as it is stored."""
    return json.dumps(list(texts), ensure_ascii=False)
