"""What no other keyword judged: as the validator has it, and at once."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ghost_hooks.schemas import Schema

MANY = 50_000
SECONDS = 8.0  # the validator's own way takes some twenty, and grows with the square
PARTS: list[dict[str, Any]] = [
    {"properties": {"a": {"type": "integer"}}},
    {"patternProperties": {"^b": True}},
    {"additionalProperties": {"type": "string"}},
    {"prefixItems": [{"type": "integer"}]},
    {"items": {"type": "integer"}},
    {"contains": {"type": "string"}},
    {"unevaluatedItems": {"type": "string"}},
    {"unevaluatedProperties": {"type": "integer"}},
]
VALUES = st.integers(0, 3) | st.sampled_from(["x", "y"])
KEYS = st.sampled_from(["a", "b1", "c"])


@given(
    st.lists(st.sampled_from(PARTS), max_size=2),
    st.sampled_from(["unevaluatedItems", "unevaluatedProperties"]),
    st.sampled_from([False, True, {"type": "integer"}]),
    st.lists(VALUES, max_size=3) | st.dictionaries(KEYS, VALUES, max_size=3),
)
def test_it_judges_as_the_validator_does(
    parts: list[dict[str, Any]], keyword: str, wanted: Any, value: Any
) -> None:
    schema = {"allOf": parts, keyword: wanted} if parts else {keyword: wanted}
    allowed = Schema("s", schema).verdict(value, typed=True).allow
    assert allowed is Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("kind", ["list", "object"])
def test_many_values_are_judged_at_once(kind: str) -> None:
    small = {"type": "integer"}
    lists = {"allOf": [{"items": small}], "unevaluatedItems": False}
    objects = {"allOf": [{"additionalProperties": small}], "unevaluatedProperties": False}
    value: Any = [1] * MANY if kind == "list" else {str(each): 1 for each in range(MANY)}
    began = time.monotonic()
    verdict = Schema("s", lists if kind == "list" else objects).verdict(value, typed=True)
    assert (verdict.allow, time.monotonic() - began < SECONDS) == (True, True)
