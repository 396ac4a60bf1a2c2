from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_ledger.field_kinds import (
    Choice,
    Field,
    Flag,
    Integer,
    Items,
    Kind,
    Pattern,
    Record,
    Text,
)

KINDS = [
    Text(3),
    Pattern("[0-9a-f]{2}"),
    Integer(0, 5),
    Flag(),
    Choice(("deny", "flag")),
    Items(Integer(0, 5), 2),
    Record((Field("a", Integer(0, 5)), Field("b", Flag(), required=False))),
]
VALUES = st.recursive(
    st.sampled_from(["", "deny", "ab", "ab\n", "abcd", "éü"]) | st.integers(-1, 6) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
@given(value=VALUES)
def test_the_check_and_the_schema_of_a_kind_agree(kind: Kind, value: Any):
    # JSON Schema's `$` ends before a last newline in Python; the pattern itself does not differ.
    if not (isinstance(value, str) and value.endswith("\n")):
        validator = jsonschema.Draft202012Validator(kind.schema())
        assert kind.fits(value) == validator.is_valid(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Text(3), "abc"),
        (Pattern("[0-9a-f]{2}"), "a0"),
        (Integer(0, 5), 5),
        (Flag(), False),
        (Choice(("deny", "flag")), "flag"),
        (Items(Integer(0, 5), 2), [1, 2]),
        (KINDS[6], {"a": 1}),
        (KINDS[6], {"a": 1, "b": True}),
    ],
)
def test_values_of_a_kind_fit(kind: Kind, value: Any):
    assert kind.fits(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Text(3), "abcd"),
        (Text(3), 3),
        (Pattern("[0-9a-f]{2}"), "a0\n"),
        (Pattern("[0-9a-f]{2}"), 10),
        (Integer(0, 5), 6),
        (Integer(0, 5), -1),
        (Integer(0, 5), True),
        (Flag(), 1),
        (Choice(("deny", "flag")), "allow"),
        (Choice(("deny", "flag")), ["flag"]),
        (Items(Integer(0, 5), 2), [1, 2, 3]),
        (Items(Integer(0, 5), 2), [9]),
        (Items(Integer(0, 5), 2), 1),
        (KINDS[6], {}),
        (KINDS[6], {"a": 1, "c": 1}),
        (KINDS[6], {"a": 9}),
        (KINDS[6], []),
    ],
)
def test_values_of_another_kind_do_not_fit(kind: Kind, value: Any):
    assert not kind.fits(value)
