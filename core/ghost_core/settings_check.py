"""Turns what pydantic found into one error: name, place, what was expected; never the value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ghost_core.errors import ConfigError
from ghost_core.settings_models import Settings
from ghost_core.settings_sources import Sources

_KINDS = {
    "int_": "expected a whole number",
    "float_": "expected a number",
    "bool_": "expected true or false",
    "string_type": "expected a text in quotes",
    "tuple_type": 'expected a list, as in ["one", "two"]',
    "list_type": 'expected a list, as in ["one", "two"]',
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "missing": "is missing",
}
"""How kinds of the library's errors begin, and what each means to who writes a file."""
_LIMITS = {
    "greater_than": ("gt", "more than {}"),
    "greater_than_equal": ("ge", "{} or more"),
    "less_than": ("lt", "less than {}"),
    "less_than_equal": ("le", "{} or less"),
}

type Location = tuple[int | str, ...]


def refused(error: ValidationError, sources: Sources) -> ConfigError:
    """Return the error for the first thing that is wrong."""
    first = error.errors(include_url=False, include_input=False)[0]
    steps = tuple(str(each) for each in _named(first["loc"]))
    where = _origin(steps, sources)
    key = ".".join(steps)
    if first["type"] == "extra_forbidden":
        return ConfigError(
            f"setting {key!r} in {where}: unknown{_nearest(steps)}",
            code="config.unknown",
            hint="the names are listed by: ghost config schema",
        )
    return ConfigError(
        f"setting {key!r} in {where}: {_expectation(first)}",
        code="config.value",
        hint="what each setting may hold is listed by: ghost config schema",
    )


def _named(location: Location) -> Iterable[int | str]:
    """Drop the parts that pydantic adds for the branches of a union."""
    return [each for each in location if not (isinstance(each, str) and "[" in each)]


def _expectation(error: ErrorDetails) -> str:
    """Say what was expected in our words: those of the library name types of Python."""
    kind, limits = error["type"], error.get("ctx", {})
    ours = next((words for start, words in _KINDS.items() if kind.startswith(start)), None)
    if ours is not None:
        return ours
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"expected {words.format(limits[name])}"
    if kind == "literal_error":
        return f"expected {limits['expected']}"
    text = error["msg"].removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def _origin(steps: tuple[str, ...], sources: Sources) -> str:
    """Name the source of the value, or of the nearest table above it."""
    for length in range(len(steps), 0, -1):
        _, origin = sources.find(steps[:length])
        if origin != "default":
            return origin
    return "defaults"


def _nearest(steps: tuple[str, ...]) -> str:
    names = _names_beside(steps)
    near = difflib.get_close_matches(steps[-1], names, n=1, cutoff=0.5)
    if near:
        return f", nearest is {'.'.join((*steps[:-1], near[0]))!r}"
    return f", expected one of {', '.join(names)}"


def _names_beside(steps: tuple[str, ...]) -> list[str]:
    """List the valid names of the table that holds the unknown one."""
    model: type[BaseModel] = Settings
    for step in steps[:-1]:
        # A step that is no field is a name of the user's or a position: the table stays the same.
        if step in model.model_fields:
            model = _model_in(model.model_fields[step].annotation) or model
    return sorted(model.model_fields)


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_model_in(each) for each in get_args(annotation))
    return next((each for each in inner if each is not None), None)
