"""The schemas within a schema: which there are, which draft they are read by, whether one holds itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ghost_hooks.names import led_to

REFERENCES = ("$ref", "$dynamicRef")
# Keywords that hold plain data, and those that hold schemas by a name of the user's.
_DATA = frozenset({"enum", "const", "default", "examples", "example"})
_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)


def inside(node: object) -> Iterator[object]:
    """Yield what may hold further schemas."""
    if isinstance(node, list):
        yield from node
    if isinstance(node, dict):
        for key, value in node.items():
            if key in _BY_NAME and isinstance(value, dict):
                yield from value.values()
            elif key not in _DATA:
                yield value


def of_one_draft(node: Any) -> Any:
    """Return a schema that names no draft: at such a name the validator changes to one that is not ours."""
    match node:
        case dict():
            kept = {name: each for name, each in node.items() if not _names_draft(name, each)}
            return {name: _within(name, each) for name, each in kept.items()}
        case list():
            return [of_one_draft(each) for each in node]
        case _:
            return node


def _within(keyword: str, value: Any) -> Any:
    if keyword in _DATA:
        return value
    if keyword in _BY_NAME and isinstance(value, dict):
        return {name: of_one_draft(each) for name, each in value.items()}
    return of_one_draft(value)


def _names_draft(keyword: str, value: object) -> bool:
    return keyword == "$schema" and isinstance(value, str)


def holds_itself(schema: object) -> bool:
    """Tell whether a reference leads back to a schema around it: such a one judges texts of any depth."""
    return _returns(schema, schema, frozenset(), set())


def _returns(node: object, root: object, above: frozenset[int], known: set[int]) -> bool:
    if id(node) in above:
        return True
    if id(node) in known or not isinstance(node, dict | list):
        return False
    known.add(id(node))
    around = above | {id(node)}
    return any(_returns(each, root, around, known) for each in _next(node, root))


def _next(node: object, root: object) -> Iterator[object]:
    yield from inside(node)
    if isinstance(node, dict):
        places = (node[key] for key in REFERENCES if isinstance(node.get(key), str))
        yield from (each for place in places for each in led_to(root, place))
