"""The schemas of an action's replies by status: the exact one, then 2XX, then default, then any success."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ghost_hooks.schemas import Schema

type Source = Path | Mapping[str, object]

_NO_CONTENT = frozenset({204, 205})


@dataclass(frozen=True, slots=True)
class Replies:
    """Which schema a reply must satisfy; replies that tell of a failure have a shape of their own.

    None by status means that nothing is asked of it.
    """

    by_status: Mapping[str, Schema | None] = field(default_factory=dict)
    success: Schema | None = None

    @classmethod
    def load(cls, name: str, success: Source | None, by_status: Mapping[str, Source]) -> Self:
        """Read the schemas of the action `name`; raises ConfigError `schema.broken`."""
        found = {
            status: Schema.load(f"{name}.response_schemas.{status}", source) if source else None
            for status, source in by_status.items()
        }
        whole = None if success is None else Schema.load(f"{name}.response_schema", success)
        return cls(found, whole)

    def __bool__(self) -> bool:
        return bool(self.by_status) or self.success is not None

    def find(self, status: int) -> Schema | None:
        """Return the schema of a reply, or None if nothing is asked of it."""
        if not 200 <= status < 300 or status in _NO_CONTENT:
            return None
        for name in (str(status), "2XX", "default"):
            if name in self.by_status:
                return self.by_status[name]
        return self.success


NO_REPLIES = Replies()
