"""The parts of an OpenAPI document that others refer to, and schemas made whole with them.

A schema of OpenAPI 3.0 is a dialect of its own; here it becomes one of draft 2020-12, as 3.1 has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from urllib.parse import unquote

REFERENCES_LIMIT = 16
_SCHEMAS = "#/components/schemas/"
# Keywords that hold plain data; nothing in them is a schema or a reference.
_DATA = frozenset({"enum", "const", "default", "example", "examples"})
# Keywords whose names are the user's: each value is a schema.
_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


class UnresolvedError(Exception):
    """A reference cannot be followed; the text says which."""


class Side(Enum):
    """Which way a body goes: a property of the other way only is not required of it."""

    REQUEST = "readOnly"
    RESPONSE = "writeOnly"


class Components:
    """Follows the references of one document; none may lead out of it."""

    def __init__(self, document: Mapping[str, object]) -> None:
        self._document = document
        self._old = str(document.get("openapi", "")).startswith("3.0")

    def resolved(self, node: object) -> Mapping[str, object]:
        """Return an object, followed through its references; empty where there is none.

        Raises: UnresolvedError.
        """
        for _ in range(REFERENCES_LIMIT):
            if not isinstance(node, dict):
                return {}
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node
            node = self._at(reference)
        raise UnresolvedError("a reference leads in circles")

    def schema(self, node: object, side: Side) -> dict[str, object] | None:
        """Return a schema with all that it refers to beside it, or None for none.

        Raises: UnresolvedError for a reference to anything but a schema of the components.
        """
        if not isinstance(node, dict | bool):
            return None
        found: dict[str, object] = {}
        waiting = list(_references(node))
        while waiting:
            reference = waiting.pop()
            name = _name_in(reference)
            if name not in found:
                target = self._at(_SCHEMAS + _escaped(name))
                found[name] = self._draft(target, side)
                waiting += _references(target)
        return {"allOf": [self._draft(node, side)], "$defs": found}

    def _at(self, reference: str) -> object:
        if not reference.startswith("#/"):
            raise UnresolvedError(f"reference {reference!r} leads out of the document")
        node: object = self._document
        for step in reference[2:].split("/"):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or name not in node:
                raise UnresolvedError(f"reference {reference!r} leads nowhere")
            node = node[name]
        return node

    def _draft(self, node: object, side: Side) -> object:
        """Return a copy of a schema in draft 2020-12, for bodies of one way."""
        if isinstance(node, list):
            return [self._draft(each, side) for each in node]
        if not isinstance(node, dict):
            return node
        made = {str(key): self._part(key, value, side) for key, value in node.items()}
        _relax(made, side)
        if self._old:
            _renew(made)
        return made

    def _part(self, key: object, value: object, side: Side) -> object:
        if key == "$ref" and isinstance(value, str):
            return value.replace(_SCHEMAS, "#/$defs/", 1)  # where a schema keeps its own parts
        if key in _BY_NAME and isinstance(value, dict):
            return {str(name): self._draft(each, side) for name, each in value.items()}
        return value if key in _DATA else self._draft(value, side)


def _relax(schema: dict[str, object], side: Side) -> None:
    """Require nothing that only comes the other way (OpenAPI 3.0.3, readOnly and writeOnly)."""
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and isinstance(properties, dict):
        schema["required"] = [
            name for name in required if not _has(properties.get(str(name)), side.value)
        ]


def _has(schema: object, flag: str) -> bool:
    return isinstance(schema, dict) and schema.get(flag) is True


def _renew(schema: dict[str, object]) -> None:
    """Turn what OpenAPI 3.0 spells in its own way into draft 2020-12."""
    kind = schema.get("type")
    if schema.get("nullable") is True and isinstance(kind, str):
        schema["type"] = [kind, "null"]
    for exclusive, bound in _BOUNDS:
        strict = schema.get(exclusive)
        if not isinstance(strict, bool):
            continue
        del schema[exclusive]
        if strict and bound in schema:
            schema[exclusive] = schema.pop(bound)


def _references(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for each in node:
            yield from _references(each)
    if isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield reference
        for key, value in node.items():
            if key in _BY_NAME and isinstance(value, dict):
                yield from _references(list(value.values()))
            elif key not in _DATA:
                yield from _references(value)


def _name_in(reference: str) -> str:
    """Return the schema of the components that a reference leads to, or into."""
    if not reference.startswith(_SCHEMAS):
        raise UnresolvedError(f"reference {reference!r}: expected one to {_SCHEMAS}…")
    step = reference.removeprefix(_SCHEMAS).partition("/")[0]
    return unquote(step).replace("~1", "/").replace("~0", "~")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
