"""Arguments of a call: declared once, shown as JSON Schema, read strictly with one kindness for models.

A whole number written as text, or a list written as JSON, is read as what it says; anything else that does
not fit is refused with what was expected. An argument that nobody declared is refused too, because leaving
it out would change the meaning of the call in silence.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ghost_core.errors import UsageError
from ghost_memory.limits import LIST_LIMIT, fit, plain, shown

__all__ = ["CURSOR", "Parameter", "limit", "project", "read", "schema"]

type Kind = Literal["text", "integer", "number", "flag", "texts"]

_MISSING: Final = object()
_SCHEMAS: Final[Mapping[Kind, Mapping[str, object]]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "texts": {"type": "array", "items": {"type": "string"}},
}
_EXPECTED: Final[Mapping[Kind, str]] = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list of texts",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument; `also` is a second name for it, with `default` None leaving it out is told apart."""

    name: str
    kind: Kind
    about: str
    required: bool = False
    default: object = None
    choices: tuple[str, ...] = ()
    also: str = ""
    bounds: tuple[float, float] | None = None


def project(
    name: str = "project_id", about: str = "Name or id of the project.", *, required: bool = True
) -> Parameter:
    """Return the parameter that names a project; both spellings of the origin are taken."""
    other = "project" if name == "project_id" else "project_id"
    return Parameter(
        name, "text", about, required=required, default=None if required else "", also=other
    )


def limit(default: int) -> Parameter:
    """Return the parameter for the length of a page."""
    about = f"How many at most, up to {LIST_LIMIT}."
    return Parameter("limit", "integer", about, default=default, bounds=(1, LIST_LIMIT))


CURSOR: Final = Parameter(
    "cursor", "text", "next_cursor of the answer before, for the next page.", default=""
)


def schema(parameters: Sequence[Parameter]) -> dict[str, object]:
    """Return the JSON Schema of the arguments; plain, as some hosts refuse anything clever at its top."""
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in parameters},
        "required": [each.name for each in parameters if each.required],
    }


def read(
    tool: str, parameters: Sequence[Parameter], arguments: Mapping[str, object]
) -> dict[str, object]:
    """Return the values of a call by name. Raises UsageError `arguments` saying what was expected."""
    given = dict(arguments)
    values = {each.name: _value(each, _take(each, given)) for each in parameters}
    if given:
        raise _unknown(tool, next(iter(given)), [each.name for each in parameters])
    return values


def _property(parameter: Parameter) -> dict[str, object]:
    found: dict[str, object] = {**_SCHEMAS[parameter.kind], "description": parameter.about}
    if parameter.choices:
        found["enum"] = list(parameter.choices)
    if parameter.bounds:
        found["minimum"], found["maximum"] = parameter.bounds
    if parameter.default is not None and parameter.default != "":
        default = parameter.default
        found["default"] = list(default) if isinstance(default, tuple) else default
    return found


def _take(parameter: Parameter, given: dict[str, object]) -> object:
    """Take a value out under either name; null is as good as nothing."""
    other = given.pop(parameter.also, None) if parameter.also else None
    found = given.pop(parameter.name, None)
    if found is not None and other is not None and found != other:
        raise _wrong(parameter, f"one of {parameter.name} and {parameter.also}, found both")
    return other if found is None else found


def _value(parameter: Parameter, found: object) -> object:
    if found is None:
        if parameter.required:
            raise _wrong(parameter, f"expected {_EXPECTED[parameter.kind]}, found nothing")
        return parameter.default
    value = _READERS[parameter.kind](found)
    if value is _MISSING:
        raise _wrong(parameter, f"expected {_EXPECTED[parameter.kind]}, found {_shown(found)}")
    if parameter.required and value == "":
        raise _wrong(parameter, "expected a text, found nothing")
    return value


def _text(found: object) -> object:
    return plain(found) if isinstance(found, str) else _MISSING


def _integer(found: object) -> object:
    match found:
        case bool():
            return _MISSING
        case int():
            return max(-(2**31), min(2**31, found))
        case float() if found.is_integer() and abs(found) < 2**31:
            return int(found)
        case str() if found.strip().removeprefix("-").isdecimal() and len(found) < 12:
            return int(found)
        case _:
            return _MISSING


def _number(found: object) -> object:
    match found:
        case bool():
            return _MISSING
        case int() | float():
            value = max(-1e9, min(1e9, float(found))) if abs(found) < 1e300 else math.inf
            return value if math.isfinite(value) else _MISSING
        case str():
            try:
                return _number(float(found))
            except ValueError:
                return _MISSING
        case _:
            return _MISSING


def _flag(found: object) -> object:
    if isinstance(found, bool):
        return found
    spelled = {"true": True, "false": False}
    return spelled.get(found.strip().lower(), _MISSING) if isinstance(found, str) else _MISSING


def _texts(found: object) -> object:
    if isinstance(found, str):
        found = _parsed(found)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        return _MISSING
    return tuple(plain(each) for each in found)


def _parsed(text: str) -> object:
    """Read a list that came as text: JSON, else one item."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return [text] if text.strip() else []
    return parsed if isinstance(parsed, list) else [text]


_READERS: Final[Mapping[Kind, Callable[[object], object]]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "flag": _flag,
    "texts": _texts,
}


def _shown(found: object) -> str:
    return fit(repr(found), 60).text


def _wrong(parameter: Parameter, what: str) -> UsageError:
    return UsageError(f"{parameter.name}: {what}", code="arguments")


def _unknown(tool: str, name: str, names: list[str]) -> UsageError:
    near = difflib.get_close_matches(name, names, n=1)
    return UsageError(
        f"{tool}: takes no argument {shown(name, 60)}"
        + (f", nearest is {near[0]!r}" if near else ""),
        code="arguments",
        hint=f"it takes {', '.join(names)}" if names else "it takes none",
    )
