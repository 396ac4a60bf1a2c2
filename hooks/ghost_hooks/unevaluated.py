"""`unevaluatedItems` and `unevaluatedProperties` in time that grows with the length alone.

The validator looks for each item in the list of those that other keywords judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any

from jsonschema import _utils
from jsonschema.exceptions import ValidationError


def _items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, list):
        return
    judged = set(_utils.find_evaluated_item_indexes_by_schema(validator, instance, schema))
    yield from _left(validator, wanted, judged, enumerate(instance))


def _properties(
    validator: Any, wanted: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    judged = set(_utils.find_evaluated_property_keys_by_schema(validator, instance, schema))
    yield from _left(validator, wanted, judged, instance.items())


def _left(
    validator: Any, wanted: Any, judged: set[Any], all_of_them: Iterable[tuple[Any, Any]]
) -> Iterator[ValidationError]:
    """Yield an error where what nobody judged does not satisfy the schema for it (2020-12 §11)."""
    left = (value for key, value in all_of_them if key not in judged)
    if any(next(validator.descend(value, wanted), None) is not None for value in left):
        yield ValidationError("holds what no keyword allows")


UNEVALUATED = MappingProxyType({"unevaluatedItems": _items, "unevaluatedProperties": _properties})
