"""The names that a schema gives to fields: what a server may take for one of them has to be spelled as it is.

A schema judges fields by their exact names, and lets others pass unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote

from ghost_hooks.params import Json, Params, UnreadableError, name_steps
from ghost_hooks.request import Request
from ghost_hooks.spelling import fields, folded, readings

_TOGETHER = ("allOf", "anyOf", "oneOf")
_ONE = ("if", "then", "else", "not")
_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")


@dataclass(frozen=True, slots=True)
class Names:
    """The fields of one object, each with those of the object in it."""

    exact: dict[str, Names] = field(default_factory=dict)
    folded: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, schema: Any) -> Self:
        """Return the names that a schema gives, also by references within it; lists are not looked into."""
        return cls._at([schema], schema, {})

    @classmethod
    def _at(cls, nodes: list[Any], root: Any, known: dict[tuple[int, ...], Self]) -> Self:
        """Return the names of parts of a schema; `known` holds those of others, for it can hold itself."""
        key = tuple(map(id, nodes))
        if key not in known:
            found = known[key] = cls()
            inside: dict[str, list[Any]] = {}
            for node in _parts(nodes, root):
                for name, inner in node.get("properties", {}).items():
                    inside.setdefault(name, []).append(inner)
                for name in node.get("required", ()):
                    inside.setdefault(name, [])
            found.exact.update({name: cls._at(each, root, known) for name, each in inside.items()})
            found.folded.update(map(folded, inside))
        return known[key]

    def require(self, request: Request, params: Params) -> None:
        """Refuse parameters of which one is spelled almost as a field.

        Raises: UnreadableError `params.spelling`.
        """
        name = self._stray(params.values)
        if name is None and not params.typed:
            name = self._stray_in_text(request)
        if name is not None:
            raise UnreadableError(
                "params: a field of the schema is there in a spelling that a server may read as the same",
                code="params.spelling",
                hint="spell each field as the schema does",
            )

    def _stray(self, node: Json) -> str | None:
        if not isinstance(node, Mapping) or not self.exact:
            return None
        found = (self._of_member(*each) for each in node.items())
        return next((each for each in found if each is not None), None)

    def _of_member(self, name: str, value: Json) -> str | None:
        below = self.exact.get(name)
        if below is not None:
            return below._stray(value)  # noqa: SLF001  # another of us
        return name if self._is_near(name) else None

    def _stray_in_text(self, request: Request) -> str | None:
        texts = (request.target.query, (request.body or b"").decode())
        names = (name for text in texts for name, _ in fields(text))
        outer = (name for name in names if name_steps(name)[0] not in self.exact)
        return next((name for name in outer if self._is_near(name)), None)

    def _is_near(self, name: str) -> bool:
        return any(reading[0] in self.folded for reading in readings(name))


def _parts(nodes: list[Any], root: Any) -> Iterator[dict[str, Any]]:
    """Yield schemas with all that they are put together from; each reference once."""
    followed: set[str] = set()
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield node
        waiting += [each for key in _TOGETHER for each in node.get(key, ())]
        waiting += [node[key] for key in _ONE if key in node]
        waiting += node.get("dependentSchemas", {}).values()
        for reference in (node.get(key) for key in _REFERENCES):
            if isinstance(reference, str) and reference not in followed:
                followed.add(reference)
                waiting += _at(root, unquote(reference.removeprefix("#")))


def _at(root: Any, place: str) -> list[Any]:
    """Return what a pointer (RFC 6901) or a name within the document leads to; nothing where that is none."""
    if place and not place.startswith("/"):
        return [each for each in _all(root) if place in [each.get(key) for key in _ANCHORS]]
    node = root
    for step in place.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            node = node.get(name) if isinstance(node, dict) else None
    return [node]


def _all(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    if isinstance(node, dict | list):
        for each in node.values() if isinstance(node, dict) else node:
            yield from _all(each)
