"""The form in which memory leaves and comes in: kinds of records, their fields, and what each may hold.

A file is JSON Lines: a header, then one record a line, each with its `type`. Ids are kept as they are.
Vectors and indexes are not in it; they are made anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from ghost_core.errors import UsageError
from ghost_memory.limits import (
    CATEGORIES,
    CONTENT_BYTES,
    DECISION_STATES,
    MOST_ROWS,
    SOURCES,
    TASK_STATES,
    TITLE_BYTES,
    fit,
    importance_of,
    kept_tags,
)
from ghost_memory.quotation import label
from ghost_memory.values import GLOBAL, listed, stored

__all__ = ["KINDS", "SCHEMA", "Kind", "Record", "record"]

SCHEMA: Final = "ghost/memory-export/v1"
NAME_BYTES: Final = 200
PATH_BYTES: Final = 4096
RELATIONS: Final = ("related", "supersedes", "contradicts", "elaborates", "causes", "duplicate")
LINKERS: Final = ("auto", "llm", "manual")

_ID: Final = re.compile(r"[A-Za-z0-9_-]{4,64}")

type Column = Callable[[object], object]
type Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of record: its table, what makes two the same, and its fields in order."""

    name: str
    table: str
    key: tuple[str, ...]
    order: str
    columns: Mapping[str, Column]
    needed: tuple[str, ...] = ()


def record(kind: Kind, row: Record) -> dict[str, object]:
    """Return a row with every field as it may be kept: times in our form, no secret, nothing too long.

    A field that is missing or null is left out, for the table has a default. Raises UsageError
    `import.record`.
    """
    kept: dict[str, object] = {}
    for name, column in kind.columns.items():
        if row.get(name) is not None:
            try:
                kept[name] = column(row[name])
            except (ValueError, TypeError, OverflowError) as error:
                raise UsageError(
                    f"{kind.name}: {name} holds what it may not", code="import.record"
                ) from error
    missing = [name for name in (*kind.key, *kind.needed) if name not in kept]
    if missing:
        raise UsageError(f"{kind.name}: {missing[0]} is missing", code="import.record")
    return _shared_stays(kind, kept)


def _shared_stays(kind: Kind, kept: dict[str, object]) -> dict[str, object]:
    """Refuse what would make a directory or another project pass for the one that all share."""
    if kind.name == "project":
        if kept["id"] == GLOBAL:
            return {name: kept[name] for name in kept if name not in {"path", "repo_remote"}}
        if kept.get("name") == GLOBAL:
            raise UsageError(f"project: only {GLOBAL} has that name", code="import.record")
    if kind.name == "checkout" and kept["project_id"] == GLOBAL:
        raise UsageError(f"checkout: {GLOBAL} has no directory", code="import.record")
    return kept


def _id(value: object) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError
    return value


def _text(value: object, *, limit: int = CONTENT_BYTES) -> str:
    if not isinstance(value, str):
        raise TypeError
    return fit(value, limit).text


def _needed(value: object, *, limit: int = CONTENT_BYTES) -> str:
    kept = _text(value, limit=limit)
    if not kept:
        raise ValueError
    return kept


def _time(value: object) -> str:
    """Return a time as rows hold it; without a zone it is UTC, as the origin writes it."""
    found = datetime.fromisoformat(str(value))
    utc = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return utc.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _number(value: object) -> int:
    if not isinstance(value, int) or not -MOST_ROWS <= value <= MOST_ROWS:
        raise ValueError
    return int(value)


def _priority(value: object) -> int:
    return value if isinstance(value, int) and value in range(5) else 2


def _importance(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError
    return importance_of(float(value))


def _flag(value: object) -> bool:
    if value not in (0, 1):
        raise ValueError
    return bool(value)


def _list(value: object, *, tags: bool = False) -> str:
    texts = listed(value) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        raise TypeError
    return stored(
        kept_tags(list(texts)) if tags else [_text(each, limit=TITLE_BYTES) for each in texts]
    )


def _one_of(value: object, *, names: tuple[str, ...], other: str = "") -> str:
    if value in names:
        return str(value)
    if not other:
        raise ValueError
    return other


def _name(value: object) -> str:
    """Return the name or id of a project, which is shown bare."""
    kept = label(_needed(value), NAME_BYTES)
    if not kept:
        raise ValueError
    return kept


_NAME: Final = _name
_PATH: Final = partial(_text, limit=PATH_BYTES)
_TITLE: Final = partial(_needed, limit=TITLE_BYTES)
_SHORT: Final = partial(_text, limit=NAME_BYTES)
_TAGS: Final = partial(_list, tags=True)
_SOURCE: Final = partial(_one_of, names=SOURCES, other="import")
_CATEGORY: Final = partial(_one_of, names=CATEGORIES, other="fact")

KINDS: Final = (
    Kind("project", "projects", ("id",), "id", {
        "id": _NAME, "path": _PATH, "name": _NAME, "repo_remote": _PATH,
        "created_at": _time, "updated_at": _time,
    }),
    Kind("checkout", "project_checkouts", ("path",), "path", {
        "path": _PATH, "project_id": _NAME, "bound_at": _time,
    }, needed=("project_id",)),
    Kind("state", "ghost_state", ("project_id",), "project_id", {
        "project_id": _NAME, "interaction_count": _number, "learned_context": _text,
        "last_reflection_at": _time, "reflection_summary": _text, "updated_at": _time,
    }),
    Kind("memory", "memories", ("id",), "seq", {
        "id": _id, "project_id": _NAME, "category": _CATEGORY, "content": _needed,
        "importance": _importance, "access_count": _number, "last_accessed": _time,
        "source": _SOURCE, "tags": _TAGS, "pinned": _flag, "created_at": _time,
        "updated_at": _time, "resolved_at": _time, "valid_until": _time,
        "agent": _SHORT, "session_id": _SHORT,
    }, needed=("project_id", "content")),
    Kind("link", "memory_links", ("source_id", "target_id", "relation"),
         "source_id, target_id, relation", {
        "source_id": _id, "target_id": _id, "relation": partial(_one_of, names=RELATIONS),
        "strength": _importance, "source": partial(_one_of, names=LINKERS, other="auto"),
        "created_at": _time, "invalidated_at": _time,
    }),
    Kind("task", "tasks", ("id",), "seq", {
        "id": _id, "project_id": _NAME, "title": _TITLE, "description": _text,
        "status": partial(_one_of, names=TASK_STATES, other="pending"),
        "priority": _priority,
        "blocked_by": _id, "branch": _SHORT, "pr_number": _number, "notes": _text,
        "created_at": _time, "updated_at": _time, "completed_at": _time,
    }, needed=("project_id", "title")),
    Kind("decision", "decisions", ("id",), "seq", {
        "id": _id, "project_id": _NAME, "title": _TITLE, "decision": _text, "alternatives": _list,
        "rationale": _text, "status": partial(_one_of, names=DECISION_STATES, other="active"),
        "superseded_by": _id, "tags": _TAGS, "memory_id": _id,
        "created_at": _time, "updated_at": _time,
    }, needed=("project_id", "title", "decision")),
    Kind("snapshot", "memory_snapshots", ("snapshot_id", "content"), "id", {
        "snapshot_id": _NAME, "project_id": _NAME, "memory_id": _text, "category": _CATEGORY,
        "content": _text, "importance": _importance, "source": _SOURCE, "tags": _TAGS,
        "created_at": _time,
    }, needed=("project_id",)),
)  # fmt: skip
