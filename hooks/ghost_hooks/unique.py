"""Whether a list has the same value twice, in time that grows with its length alone.

The validator's own way compares each with each where values cannot be sorted, as objects cannot.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from decimal import Decimal

from ghost_hooks.params import Json


def has_doubles(values: Iterable[Json]) -> bool:
    """Tell whether two values are equal as JSON Schema has it (2020-12 §4.2.2): `1` and `1.0` are."""
    seen: set[Hashable] = set()
    for value in values:
        mark = _mark(value)
        if mark in seen:
            return True
        seen.add(mark)
    return False


def _mark(value: Json) -> Hashable:
    """Return what equal values have in common; of text, since the hashes of numbers can be chosen."""
    match value:
        case str() | None:
            return value
        case bool():
            return (bool, str(value))
        case int() | Decimal():
            return _of_number(Decimal(value))
        case Mapping():
            return frozenset((name, _mark(inner)) for name, inner in value.items())
        case _:
            return (list, *map(_mark, value))


def _of_number(value: Decimal) -> Hashable:
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits))
    kept = text.strip("0")
    zeros = len(text) - len(text.rstrip("0"))
    return (int, kept and f"{sign} {kept} {int(exponent) + zeros}")
