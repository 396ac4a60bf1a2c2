"""JSON Schema (2020-12) over parameters and replies; a mismatch names the place, never the value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from ghost_core.errors import ConfigError
from ghost_hooks.effort import TooMuchError, allowed_for, counted
from ghost_hooks.names import Names
from ghost_hooks.params import Json, as_number
from ghost_hooks.request import Verdict
from ghost_hooks.schema_parts import REFERENCES, holds_itself, inside, of_one_draft
from ghost_hooks.unevaluated import UNEVALUATED
from ghost_hooks.unique import has_doubles

FILE_LIMIT = 4 * 1024 * 1024
_DENIED = 403
_PLACE_LIMIT = 120
_BOUND_LIMIT = 120
# Keywords whose own value may be told; an `enum` or a `const` can hold what nobody is to know.
_BOUNDS = frozenset(
    [
        "type",
        "format",
        "required",
        "multipleOf",
        "maximum",
        "minimum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "maxItems",
        "minItems",
        "maxContains",
        "minContains",
        "maxProperties",
        "minProperties",
    ]
)
type Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class Schema:
    """One checked schema; it reads nothing but itself."""

    def __init__(self, name: str, document: object) -> None:
        """Check the schema; raises ConfigError `schema.broken`."""
        self.name = name
        try:
            plain: Any = _exact(document)
            if not isinstance(plain, dict | bool):
                raise _broken(name, "expected a JSON object")
            Draft202012Validator.check_schema(
                plain, format_checker=Draft202012Validator.FORMAT_CHECKER
            )
            _check_references(name, plain)
            plain = of_one_draft(plain)
            self.recursive = holds_itself(plain)
        except (SchemaError, ValueError, TypeError, RecursionError) as error:
            raise _broken(name, "is no JSON Schema of draft 2020-12") from error
        self.names = Names.of(plain)
        registry: Registry[Any] = Registry()
        self._typed: Validator = _Typed(plain, registry=registry)
        self._text: Validator = _Text(plain, registry=registry)

    @classmethod
    def load(cls, name: str, source: Path | Mapping[str, object]) -> Schema:
        """Read a schema from a JSON file of at most 4 MiB or an inline table; raises ConfigError."""
        if not isinstance(source, Path):
            return cls(name, source)
        try:
            with source.open("rb") as file:
                return cls.parse(name, file.read(FILE_LIMIT + 1))
        except OSError as error:
            raise _broken(name, f"{str(source)!r} cannot be read, {error.strerror}") from error

    @classmethod
    def parse(cls, name: str, data: bytes) -> Schema:
        """Read a schema from JSON bytes; raises ConfigError."""
        try:
            document = json.loads(data, parse_float=Decimal) if len(data) <= FILE_LIMIT else None
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise _broken(name, "is no JSON") from error
        return cls(name, document)

    def verdict(self, values: Json, *, typed: bool, status: int = _DENIED) -> Verdict:
        """Judge values; `typed` is False for form and query, whose numbers are text."""
        judged: Any = values
        try:
            with allowed_for(values):
                error = next((self._typed if typed else self._text).iter_errors(judged), None)
        except TooMuchError:
            reason, status = "takes too long to judge", 413 if status == _DENIED else status
            return Verdict.no("schema", self.name, reason, code="params.long", status=status)
        if error is None:
            return Verdict.yes("schema", self.name)
        place = error.json_path[:_PLACE_LIMIT]
        reason = f"{place}: does not satisfy {error.validator!r}{_bound(error)}"
        hint = f"a human can change it: {self.name}"
        return Verdict.no(
            "schema", self.name, reason, code="schema.mismatch", status=status, hint=hint
        )


def _bound(error: ValidationError) -> str:
    """Return what the schema asks for, where that can be told in a line; the value is never told."""
    if error.validator not in _BOUNDS:
        return ""
    wanted: Any = error.validator_value
    listed = wanted if isinstance(wanted, list) else [wanted]
    return f" {', '.join(map(str, listed))}"[:_BOUND_LIMIT]


def _broken(name: str, why: str) -> ConfigError:
    return ConfigError(f"schema {name!r}: {why}", code="schema.broken")


def _check_references(name: str, document: dict[str, Any] | bool) -> None:
    """Refuse references out of the document or into nothing, so that none is met at run time."""
    if isinstance(document, bool):
        return
    resource = Resource.from_contents(document, default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource("", resource)
    for reference in _references(name, document, root=True):
        if not reference.startswith("#"):
            raise _broken(name, "expected references within the schema only")
        try:
            registry.resolver("").lookup(reference)
        except Unresolvable as error:
            raise _broken(name, "a reference leads nowhere") from error


def _references(name: str, node: object, *, root: bool = False) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$id"), str) and not root:
            raise _broken(name, "expected $id at the top only")
        yield from (node[key] for key in REFERENCES if isinstance(node.get(key), str))
    for each in inside(node):
        yield from _references(name, each)


def _exact(node: object) -> object:
    """Return a copy with Decimal for every float, so that bounds compare exactly."""
    match node:
        case Mapping():
            return {str(key): _exact(value) for key, value in node.items()}
        case list() | tuple():
            return [_exact(each) for each in node]
        case float():
            return Decimal(repr(node))
        case str() | int() | Decimal() | None:
            return node
        case _:
            raise TypeError(type(node).__name__)


def _is_integer(_: TypeChecker, value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (
        isinstance(value, Decimal) and value == value.to_integral_value()
    )


def _is_number(_: TypeChecker, value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _text_integer(checker: TypeChecker, value: object) -> bool:
    return _is_integer(checker, as_number(value))


def _text_number(checker: TypeChecker, value: object) -> bool:
    return _is_number(checker, as_number(value))


def _text_boolean(_: TypeChecker, value: object) -> bool:
    return value in {"true", "false"} if isinstance(value, str) else isinstance(value, bool)


def _numeric(keyword: str) -> Keyword:
    """Apply a numeric keyword to text; what does not spell a number cannot satisfy it."""

    def check(validator: Any, limit: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        number = as_number(instance)
        if isinstance(number, str | list | dict):
            yield ValidationError("is no number")
        else:
            yield from (
                Draft202012Validator.VALIDATORS[keyword](validator, limit, number, schema) or ()
            )

    return check


def _unique(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list) and has_doubles(instance):
        yield ValidationError("holds a value twice")


def _choice(_: Any, allowed: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if not any(_same(instance, each) for each in allowed):
        yield ValidationError("is not among the values")


def _constant(_: Any, allowed: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if not _same(instance, allowed):
        yield ValidationError("is another value")


def _same(sent: object, wanted: object) -> bool:
    if isinstance(wanted, bool):
        return sent in {wanted, str(wanted).lower()} if isinstance(sent, str | bool) else False
    if isinstance(wanted, int | Decimal):
        return as_number(sent) == wanted
    return sent == wanted


_NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {"integer": _is_integer, "number": _is_number}
)
_extend: Callable[..., type[Validator]] = extend
_LISTS = {**Draft202012Validator.VALIDATORS, "uniqueItems": _unique, **UNEVALUATED}


def _counted(keywords: Mapping[str, Keyword]) -> dict[str, Keyword]:
    return {name: counted(check) for name, check in keywords.items()}


_Typed = _extend(Draft202012Validator, validators=_counted(_LISTS), type_checker=_TYPES)
_Text = _extend(
    Draft202012Validator,
    validators=_counted(
        {
            **_LISTS,
            **{keyword: _numeric(keyword) for keyword in _NUMERIC},
            "enum": _choice,
            "const": _constant,
        }
    ),
    type_checker=_TYPES.redefine_many(
        {
            "integer": _text_integer,
            "number": _text_number,
            "boolean": _text_boolean,
        }
    ),
)
