from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_ledger import entry_types
from ghost_ledger.entry_types import (
    ENTRY_TYPES,
    Choice,
    Field,
    Flag,
    Integer,
    Items,
    Pattern,
    Record,
    Text,
    json_schema,
)

PUBLISHED = Path(__file__).parents[2] / "docs" / "formats" / "entries"
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


@pytest.mark.parametrize("name", ENTRY_TYPES)
def test_the_published_schema_is_the_one_of_the_code(name: str):
    assert json.loads((PUBLISHED / f"{name}.json").read_text("utf-8")) == json_schema(name)


def test_no_schema_is_published_without_a_type():
    assert {path.stem for path in PUBLISHED.glob("*.json")} == set(ENTRY_TYPES)


@pytest.mark.parametrize("name", ENTRY_TYPES)
def test_every_schema_is_a_schema_and_every_type_a_noun_with_a_participle(name: str):
    jsonschema.Draft202012Validator.check_schema(json_schema(name))
    assert name.count(".") == 1
    assert ENTRY_TYPES[name].name == name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
@given(value=VALUES)
def test_the_check_and_the_schema_of_a_kind_agree(kind: entry_types.Kind, value: Any):
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
def test_values_of_a_kind_fit(kind: entry_types.Kind, value: Any):
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
def test_values_of_another_kind_do_not_fit(kind: entry_types.Kind, value: Any):
    assert not kind.fits(value)


@pytest.mark.parametrize("origin", ["ghost.example/1", "a", "localhost:80/x_y-z"])
def test_an_origin_is_a_short_name_of_plain_characters(origin: str):
    assert entry_types.ORIGIN.fits(origin)


@pytest.mark.parametrize("origin", ["", "a b", "a+b", "a/s/gh_1", "é", "a" * 201])
def test_an_origin_never_looks_like_the_name_of_a_session(origin: str):
    assert not entry_types.ORIGIN.fits(origin)


def test_the_module_writes_all_schemas_into_a_folder(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["entry_types", str(tmp_path)])
    monkeypatch.delitem(sys.modules, "ghost_ledger.entry_types")
    runpy.run_module("ghost_ledger.entry_types", run_name="__main__")
    for name in ENTRY_TYPES:
        assert (tmp_path / f"{name}.json").read_bytes() == (PUBLISHED / f"{name}.json").read_bytes()
