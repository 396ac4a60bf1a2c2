"""Conditions over parameters: their own small grammar, nothing is evaluated as code.

`PATH must exist | PATH (== != < <= > >= in) LITERAL`, joined by `and`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from ghost_core.errors import ConfigError
from ghost_core.settings_values import FIELD_PATH
from ghost_hooks.params import Json, as_number

_PATH = re.compile(rf"\s*{FIELD_PATH}\s*")
_STEP = re.compile(r"[\w-]+")
_OPERATOR = re.compile(r"(==|!=|<=|>=|<|>|in\b|must\s+exist\b)\s*")
_LITERAL = re.compile(
    r"""(-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?(?![\w.])|true\b|false\b|null\b|"(?:[^"\\]|\\.)*"|'[^'\\]*')\s*"""
)
_AND = re.compile(r"and\b\s*")
_TRUTH = {"true": True, "false": False}
_ORDER: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MISSING = object()

type Literal = str | Decimal | bool | None


class UndecidableError(ValueError):
    """A value is of another kind than the condition compares with."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One comparison; `operation` is an operator, "in" or "exist"."""

    path: tuple[str, ...]
    operation: str
    literals: tuple[Literal, ...] = ()

    def holds(self, values: Json) -> bool:
        """Tell whether the clause holds; a missing value never does. Raises UndecidableError."""
        value = lookup(values, self.path)
        if value is _MISSING:
            return False
        match self.operation:
            case "exist":
                return True
            case "in" | "==":
                return _among(value, self.literals)
            case "!=":
                return not _equal(value, self.literals[0])
            case other:
                return _ORDER[other](number(value), number(self.literals[0]))


@dataclass(frozen=True, slots=True)
class Condition:
    """Clauses that must all hold."""

    text: str
    clauses: tuple[Clause, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a condition; raises ConfigError `rule.when` with the column."""
        clauses: list[Clause] = []
        at = 0
        while True:
            clause, at = _clause(text, at)
            clauses.append(clause)
            if at == len(text):
                return cls(text, tuple(clauses))
            at = _expect(_AND, text, at, "and").end()

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The fields that it reads."""
        return tuple(clause.path for clause in self.clauses)

    def holds(self, values: Json) -> bool:
        """Tell whether all clauses hold; raises UndecidableError if one cannot be decided.

        A clause that is plainly false decides before one that cannot be decided.
        """
        undecided: UndecidableError | None = None
        for clause in self.clauses:
            try:
                if not clause.holds(values):
                    return False
            except UndecidableError as error:
                undecided = error
        if undecided is not None:
            raise undecided
        return True


def _expect(pattern: re.Pattern[str], text: str, at: int, what: str) -> re.Match[str]:
    found = pattern.match(text, at)
    if found is None:
        raise _malformed(text, at, what)
    return found


def _malformed(text: str, at: int, what: str) -> ConfigError:
    return ConfigError(
        f"condition {text!r}: column {at + 1}: expected {what}",
        code="rule.when",
        hint='a condition such as amount > 1000 and currency in ["usd", "eur"]',
    )


def _clause(text: str, at: int) -> tuple[Clause, int]:
    name = _expect(_PATH, text, at, "a name")
    path = path_of(name[1])
    sign = _expect(_OPERATOR, text, name.end(), "== != < <= > >= in or must exist")
    operation = sign[1]
    if operation.startswith("must"):
        return Clause(path, "exist"), sign.end()
    if operation == "in":
        return _membership(path, text, sign.end())
    found = _expect(_LITERAL, text, sign.end(), "a literal")
    literal = _literal(found[1], text)
    if operation in _ORDER and not isinstance(literal, Decimal):
        raise _malformed(text, sign.end(), "a number")
    return Clause(path, operation, (literal,)), found.end()


def _membership(path: tuple[str, ...], text: str, at: int) -> tuple[Clause, int]:
    at = _expect(re.compile(r"\[\s*"), text, at, "[").end()
    literals: list[Literal] = []
    while True:
        found = _expect(_LITERAL, text, at, "a literal")
        literals.append(_literal(found[1], text))
        sign = _expect(re.compile(r"([,\]])\s*"), text, found.end(), ", or ]")
        at = sign.end()
        if sign[1] == "]":
            return Clause(path, "in", tuple(literals)), at


def _literal(token: str, text: str) -> Literal:
    if token.startswith("'"):
        return token[1:-1]
    try:
        value: object = json.loads(token, parse_float=Decimal, parse_int=Decimal)
    except ValueError as error:
        raise ConfigError(f"condition {text!r}: malformed literal", code="rule.when") from error
    return value if isinstance(value, str | Decimal | bool) else None


def path_of(text: str) -> tuple[str, ...]:
    """Return the steps of a name such as `a.b[0]`."""
    return tuple(_STEP.findall(text))


def lookup(values: object, path: tuple[str, ...]) -> object:
    """Return the value at the end of the steps, or a mark that equals nothing."""
    for step in path:
        if isinstance(values, Mapping) and step in values:
            values = values[step]
        elif isinstance(values, list) and step.isdigit() and int(step) < len(values):
            values = values[int(step)]
        else:
            return _MISSING
    return values


def number(value: object) -> Decimal:
    """Read a number, also one that a form sends as text; raises UndecidableError for others."""
    found = as_number(value)
    if isinstance(found, Decimal | int) and not isinstance(found, bool):
        return Decimal(found)
    raise UndecidableError("is no number")


def _among(value: object, literals: tuple[Literal, ...]) -> bool:
    """Tell whether one literal equals; one of another kind leaves it open only if none does."""
    undecided: UndecidableError | None = None
    for literal in literals:
        try:
            if _equal(value, literal):
                return True
        except UndecidableError as error:
            undecided = error
    if undecided is not None:
        raise undecided
    return False


def _equal(value: object, literal: Literal) -> bool:
    if value is None or literal is None:
        return value is literal
    match literal:
        case bool():
            found = _TRUTH.get(value, value) if isinstance(value, str) else value
            if not isinstance(found, bool):
                raise UndecidableError("is no truth value")
            return found is literal
        case Decimal():
            return number(value) == literal
        case _:
            if not isinstance(value, str):
                raise UndecidableError("is no text")
            return value == literal
