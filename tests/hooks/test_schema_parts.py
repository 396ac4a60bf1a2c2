"""Schemas within schemas; over the wire: `tests/attacks/test_schemas_that_recur.py`."""

from __future__ import annotations

from typing import Any

import pytest

from ghost_hooks.schema_parts import holds_itself, inside, of_one_draft

DRAFT = "http://json-schema.org/draft-07/schema#"


def test_plain_data_holds_no_schemas() -> None:
    node = {"enum": [1], "properties": {"enum": "a"}, "items": "b", "$defs": {"x": "c"}}
    assert list(inside(node)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"$schema": DRAFT, "type": "object"}, {"type": "object"}),
        ({"items": [{"$schema": DRAFT}]}, {"items": [{}]}),
        ({"properties": {"a": {"$schema": DRAFT}}}, {"properties": {"a": {}}}),
        ({"properties": {"$schema": {"$schema": DRAFT}}}, {"properties": {"$schema": {}}}),
        ({"const": {"$schema": DRAFT}}, {"const": {"$schema": DRAFT}}),
        (True, True),
    ],
)
def test_names_of_drafts_go_and_fields_of_that_name_stay(schema: Any, kept: Any) -> None:
    assert of_one_draft(schema) == kept


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"properties": {"a": {"$ref": "#"}}}, True),
        ({"$defs": {"x": {"items": {"$ref": "#/$defs/x"}}}}, True),
        ({"$defs": {"x": {"$anchor": "y", "not": {"$dynamicRef": "#y"}}}}, True),
        ({"$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"items": {"$ref": "#/$defs/x"}}}}, True),
        ({"$defs": {"x": {}}, "items": {"$ref": "#/$defs/x"}, "not": {"$ref": "#/$defs/x"}}, False),
        ({"const": {"$ref": "#"}}, False),
        (True, False),
    ],
)
def test_one_that_holds_itself_is_known(schema: Any, found: bool) -> None:
    assert holds_itself(schema) is found
