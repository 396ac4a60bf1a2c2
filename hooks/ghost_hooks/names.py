"""The names that a schema gives to fields: what a server may take for one of them has to be spelled as it is.

A schema judges fields by their exact names, and lets others pass unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote

from ghost_hooks.folding import folded
from ghost_hooks.params import Json, Params, UnreadableError, name_steps
from ghost_hooks.request import Request
from ghost_hooks.spelling import fields, readings, require_form

_TOGETHER = ("allOf", "anyOf", "oneOf")
_ONE = ("if", "then", "else", "not")
_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")


@dataclass(frozen=True, slots=True)
class Names:
    """The fields of one object, each with those of the object in it."""

    exact: dict[str, Names] = field(default_factory=dict)
    folded: dict[str, str] = field(default_factory=dict)

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
            found.folded.update({folded(name): name for name in inside})
        return known[key]

    def require(self, request: Request, params: Params) -> None:
        """Refuse parameters of which one is spelled almost as a field, or is one in a second place.

        Raises: UnreadableError `params.spelling`, or `params.media` as `read_params` does.
        """
        if not self.exact:
            return
        require_form(request, params)
        field = self._stray(params.values) or self._stray_in_text(request, params)
        if field is not None:
            raise _refused(field, "is there in a spelling that a server may read as the same")
        query, form = map(self._fields, _texts(request, params))
        twice = query if params.typed else query & form
        if twice:
            raise _refused(min(twice), "is there in the query beside the body")

    def _stray(self, node: Json) -> str | None:
        if not isinstance(node, Mapping) or not self.exact:
            return None
        found = (self._of_member(*each) for each in node.items())
        return next((each for each in found if each is not None), None)

    def _of_member(self, name: str, value: Json) -> str | None:
        below = self.exact.get(name)
        if below is not None:
            return below._stray(value)  # noqa: SLF001  # another of us
        return self._near(name)

    def _stray_in_text(self, request: Request, params: Params) -> str | None:
        names = (each for text in _texts(request, params) for each in _names(text))
        found = (self._near(name) for first, name in names if first not in self.exact)
        return next((each for each in found if each is not None), None)

    def _fields(self, text: str) -> set[str]:
        return {first for first, _ in _names(text) if first in self.exact}

    def _near(self, name: str) -> str | None:
        """Return the field that a server may take a name for."""
        found = (self.folded.get(reading[0]) for reading in readings(name))
        return next((each for each in found if each is not None), None)


def _refused(field: str, why: str) -> UnreadableError:
    return UnreadableError(
        f"params: {field!r} is a field of the schema, and {why}",
        code="params.spelling",
        hint="send each field once, spelled as the schema does, in the body where there is one",
    )


def _texts(request: Request, params: Params) -> tuple[str, str]:
    """Return the query and, where it is one, the form."""
    return request.target.query, "" if params.typed else (request.body or b"").decode()


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the first steps and names of a query or form; a step is empty where only IIS reads the name."""
    for piece in text.replace(";", "&").split("&"):
        sure = "%u" not in piece.partition("=")[0]
        yield from ((name_steps(name)[0] if sure else "", name) for name, _ in fields(piece))


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
                waiting += led_to(root, reference)


def led_to(root: Any, reference: str) -> list[Any]:
    """Return what a pointer (RFC 6901) or a name within the document leads to; nothing where that is none."""
    place = unquote(reference.removeprefix("#"))
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
