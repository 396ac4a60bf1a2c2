"""What the data of an answer looks like, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["DECISION", "MEMORY", "PROJECT", "TASK", "of", "page"]

_NAMES: Final[Mapping[str, Mapping[str, object]]] = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    "object": {"type": "object"},
}


def of(optional: Mapping[str, str] | None = None, **required: str) -> dict[str, object]:
    """Return the schema of an object with these fields; each value names a kind of field."""
    every = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": {name: _NAMES[kind] for name, kind in every.items()},
        "required": list(required),
    }


def page(
    name: str, item: Mapping[str, object], optional: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return the schema of a page of a list; stored texts in it stand between « and »."""
    made = of(optional, total="count", next_cursor="text")
    properties = {name: {"type": "array", "items": item}, **_properties(made)}
    return {**made, "properties": properties, "required": [name, "total", "next_cursor"]}


def _properties(schema: Mapping[str, object]) -> Mapping[str, object]:
    found = schema["properties"]
    return found if isinstance(found, dict) else {}


MEMORY: Final = of(
    {"project": "text", "note": "text", "replaced_by": "text"},
    id="text",
    project_id="text",
    category="text",
    content="text",
    importance="number",
    pinned="flag",
    tags="texts",
    created_at="text",
)
TASK: Final = of(
    {"description": "text", "notes": "text", "completed_at": "text"},
    id="text",
    project_id="text",
    status="text",
    priority="count",
    title="text",
    created_at="text",
)
DECISION: Final = of(
    {"alternatives": "text", "superseded_by": "text", "memory_id": "text"},
    id="text",
    project_id="text",
    title="text",
    decision="text",
    rationale="text",
    status="text",
    created_at="text",
)
PROJECT: Final = of(id="text", name="text", path="text", memories="count")
