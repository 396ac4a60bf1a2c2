from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import UsageError
from ghost_memory.server.parameters import CURSOR, Kind, Parameter, limit, project, read, schema
from support.memory import SECRET

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
TYPES: dict[Kind, type | tuple[type, ...]] = {
    "text": str,
    "integer": int,
    "number": float,
    "flag": bool,
    "texts": tuple,
}


def one(kind: Kind, value: object, **more: Any) -> object:
    return read("tool", [Parameter("it", kind, "", **more)], {"it": value})["it"]


@pytest.mark.parametrize(
    ("kind", "given_", "expected"),
    [
        ("text", "a", "a"),
        ("text", "a\ud800\0", "a?\ufffd"),
        ("integer", 3, 3),
        ("integer", 3.0, 3),
        ("integer", " 3 ", 3),
        ("integer", 10**30, 2**31),
        ("number", 1, 1.0),
        ("number", "0.5", 0.5),
        ("flag", True, True),
        ("flag", "False", False),
        ("texts", ["a", "b"], ("a", "b")),
        ("texts", '["a","b"]', ("a", "b")),
        ("texts", "a", ("a",)),
        ("texts", "", ()),
    ],
)
def test_what_fits_is_read(kind: Kind, given_: object, expected: object) -> None:
    assert one(kind, given_) == expected


@pytest.mark.parametrize(
    ("kind", "given_"),
    [
        ("text", 5),
        ("text", ["a"]),
        ("integer", True),
        ("integer", 1.5),
        ("integer", "five"),
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", "1e400"),
        ("number", False),
        ("flag", 1),
        ("flag", "yes"),
        ("texts", [1]),
        ("texts", {"a": 1}),
        ("texts", "[1]"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_expected(kind: Kind, given_: object) -> None:
    with pytest.raises(UsageError, match="it: expected") as raised:
        one(kind, given_)
    assert raised.value.code == "arguments"


@given(st.sampled_from(sorted(TYPES)), JSON)
def test_any_value_is_read_as_its_type_or_refused(kind: Kind, value: object) -> None:
    try:
        found = one(kind, value)
    except UsageError:
        return
    assert found is None if value is None else isinstance(found, TYPES[kind])


def test_a_text_that_must_be_there_may_not_be_empty() -> None:
    for arguments in ({}, {"it": None}, {"it": ""}):
        with pytest.raises(UsageError, match="found nothing"):
            read("tool", [Parameter("it", "text", "", required=True)], arguments)


def test_what_is_left_out_has_its_default() -> None:
    assert read("tool", [limit(30), CURSOR], {"limit": None}) == {"limit": 30, "cursor": ""}


@pytest.mark.parametrize("name", ["project", "project_id"])
def test_a_project_is_named_by_either_name(name: str) -> None:
    assert read("tool", [project()], {name: "app"}) == {"project_id": "app"}
    assert read("tool", [project("project")], {name: "app"}) == {"project": "app"}


def test_two_different_projects_are_refused() -> None:
    with pytest.raises(UsageError, match="found both"):
        read("tool", [project()], {"project": "a", "project_id": "b"})


def test_an_argument_that_nobody_declared_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="nearest is 'limit'") as raised:
        read("tool", [project(), limit(5)], {"project_id": "app", "limitt": 3})
    assert raised.value.hint == "it takes project_id, limit"


def test_the_schema_is_a_plain_object() -> None:
    found = schema(
        [project(), Parameter("kind", "text", "k", default="a", choices=("a", "b")), limit(5)]
    )
    assert found == {
        "type": "object",
        "properties": {
            "project_id": {"type": "string", "description": "Name or id of the project."},
            "kind": {"type": "string", "description": "k", "enum": ["a", "b"], "default": "a"},
            "limit": {
                "type": "integer",
                "description": "How many at most, up to 100.",
                "minimum": 1,
                "maximum": 100,
                "default": 5,
            },
        },
        "required": ["project_id"],
    }


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    for wrong in ({SECRET: 1}, {"limit": SECRET}):
        with pytest.raises(UsageError) as caught:
            read("tool", (limit(5),), wrong)
        assert SECRET not in caught.value.message
