"""Kinds of fields: each is a check in plain Python, and the JSON Schema that says the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from ghost_ledger.canonical import Value

__all__ = ["Choice", "Field", "Flag", "Integer", "Items", "Kind", "Pattern", "Record", "Text"]

_INTEGER = 2**53 - 1


class Kind(Protocol):
    """What a field may hold: a check and the JSON Schema that says the same."""

    def fits(self, value: object) -> bool:
        """Tell whether the value is of this kind."""
        ...

    def schema(self) -> dict[str, Value]:
        """Return the JSON Schema (draft 2020-12) of this kind."""
        ...


@dataclass(frozen=True, slots=True)
class Field:
    """One named field."""

    name: str
    kind: Kind
    required: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """A string of at most `limit` code points."""

    limit: int = 1024

    def fits(self, value: object) -> bool:
        """Tell whether it is a string within the limit."""
        return isinstance(value, str) and len(value) <= self.limit

    def schema(self) -> dict[str, Value]:
        """Return type and length."""
        return {"type": "string", "maxLength": self.limit}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A string that matches a regular expression as a whole."""

    expression: str
    _match: Callable[[str], object] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the expression once: every entry is checked by it."""
        object.__setattr__(self, "_match", re.compile(self.expression).fullmatch)

    def fits(self, value: object) -> bool:
        """Tell whether it is a string of this form."""
        return isinstance(value, str) and self._match(value) is not None

    def schema(self) -> dict[str, Value]:
        """Return type and anchored pattern."""
        return {"type": "string", "pattern": f"^{self.expression}$"}


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer within bounds."""

    minimum: int = 0
    maximum: int = _INTEGER

    def fits(self, value: object) -> bool:
        """Tell whether it is an integer, not a boolean, within the bounds."""
        return type(value) is int and self.minimum <= value <= self.maximum

    def schema(self) -> dict[str, Value]:
        """Return type and bounds."""
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def fits(self, value: object) -> bool:
        """Tell whether it is a boolean."""
        return isinstance(value, bool)

    def schema(self) -> dict[str, Value]:
        """Return the type."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def fits(self, value: object) -> bool:
        """Tell whether it is one of the words."""
        return isinstance(value, str) and value in self.words

    def schema(self) -> dict[str, Value]:
        """Return the words."""
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Items:
    """A list of at most `limit` values of one kind."""

    kind: Kind
    limit: int

    def fits(self, value: object) -> bool:
        """Tell whether it is such a list."""
        return (
            isinstance(value, list)
            and len(value) <= self.limit
            and all(self.kind.fits(item) for item in value)
        )

    def schema(self) -> dict[str, Value]:
        """Return the schema of the items and their number."""
        return {"type": "array", "items": self.kind.schema(), "maxItems": self.limit}


@dataclass(frozen=True, slots=True)
class Record:
    """An object with exactly these fields."""

    fields: tuple[Field, ...]

    def fits(self, value: object) -> bool:
        """Tell whether no field is unknown, missing or of another kind."""
        if not isinstance(value, dict):
            return False
        known = {field.name: field.kind for field in self.fields}
        needed = {field.name for field in self.fields if field.required}
        return needed <= value.keys() <= known.keys() and all(
            known[name].fits(item) for name, item in value.items()
        )

    def schema(self) -> dict[str, Value]:
        """Return the schema of a closed object."""
        return {
            "type": "object",
            "properties": {field.name: field.kind.schema() for field in self.fields},
            "required": [field.name for field in self.fields if field.required],
            "additionalProperties": False,
        }
