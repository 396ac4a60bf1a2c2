"""References within a document, and schemas made whole with what they refer to."""

from __future__ import annotations

from typing import Any

import pytest

from ghost_core.errors import ConfigError
from ghost_hooks.components import Components, Side, UnresolvedError
from ghost_hooks.params import Json
from ghost_hooks.schemas import Schema


def allows(schema: object, value: Json, side: Side = Side.REQUEST, **document: Any) -> bool:
    whole = Components(document).schema(schema, side)
    assert whole is not None
    return Schema("s", whole).verdict(value, typed=True).allow


def schemas(**named: object) -> dict[str, object]:
    return {"schemas": named}


def test_a_reference_is_followed_through_others() -> None:
    tree = {"components": {"x": {"a/b%": {"$ref": "#/end"}}}, "end": {"k": 1}}
    components = Components(tree)
    assert components.resolved({"$ref": "#/components/x/a~1b%25"}) == {"k": 1}
    assert components.resolved(None) == {}
    assert components.resolved("text") == {}


@pytest.mark.parametrize("reference", ["#/a", "other.yaml", "#/none", "https://x.example/#/a", "#"])
def test_a_reference_that_leads_nowhere_is_refused(reference: str) -> None:
    with pytest.raises(UnresolvedError):
        Components({"a": {"$ref": "#/a"}}).resolved({"$ref": reference})


def test_a_schema_comes_with_all_that_it_refers_to_and_no_more() -> None:
    parts = schemas(
        Pet={"properties": {"owner": {"$ref": "#/components/schemas/Owner"}}},
        Owner={"properties": {"pet": {"$ref": "#/components/schemas/Pet"}}, "required": ["id"]},
        Other={"$ref": "elsewhere.yaml"},
    )
    reference = {"$ref": "#/components/schemas/Pet"}
    whole = Components({"components": parts}).schema(reference, Side.REQUEST)
    assert whole is not None
    assert sorted(whole["$defs"]) == ["Owner", "Pet"]  # type: ignore[call-overload]
    assert allows(reference, {"owner": {"id": 1, "pet": {}}}, components=parts)
    assert not allows(reference, {"owner": {"pet": {}}}, components=parts)


def test_a_part_that_is_no_schema_is_found_when_it_is_read() -> None:
    parts = schemas(Pet={"properties": {"id": {"type": 5}}})
    with pytest.raises(ConfigError):
        allows({"$ref": "#/components/schemas/Pet"}, {}, components=parts)


def test_a_reference_may_lead_into_a_schema() -> None:
    parts = schemas(Pet={"properties": {"name": {"type": "string"}}})
    reference = {"$ref": "#/components/schemas/Pet/properties/name"}
    assert allows(reference, "x", components=parts)
    assert not allows(reference, 1, components=parts)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/components/responses/Pet"},
        {"items": {"$ref": "other.yaml#/Pet"}},
        {"properties": {"default": {"$ref": "#/components/schemas/None"}}},
    ],
)
def test_a_schema_refers_to_schemas_of_the_components_only(schema: object) -> None:
    with pytest.raises(UnresolvedError):
        Components({"components": {"responses": {"Pet": {}}}}).schema(schema, Side.REQUEST)


def test_plain_data_in_a_schema_is_no_reference() -> None:
    assert allows({"const": {"$ref": "x"}}, {"$ref": "x"})
    assert allows({"enum": [{"required": ["a"]}]}, {"required": ["a"]})


def test_no_schema_is_none() -> None:
    assert Components({}).schema(None, Side.REQUEST) is None


@pytest.mark.parametrize(
    ("flag", "needed"), [("readOnly", (False, True)), ("writeOnly", (True, False))]
)
def test_what_only_goes_one_way_is_not_required_of_the_other(
    flag: str, needed: tuple[bool, bool]
) -> None:
    schema = {"required": ["id"], "properties": {"id": {flag: True}}}
    assert (not allows(schema, {}, Side.REQUEST), not allows(schema, {}, Side.RESPONSE)) == needed


@pytest.mark.parametrize(
    ("schema", "value", "old", "new"),
    [
        ({"type": "string", "nullable": True}, None, True, False),
        ({"type": "string", "nullable": False}, None, False, False),
        ({"minimum": 1, "exclusiveMinimum": True}, 1, False, None),
        ({"minimum": 1, "exclusiveMinimum": False}, 1, True, None),
        ({"maximum": 1, "exclusiveMaximum": True}, 1, False, None),
        ({"exclusiveMaximum": 1}, 1, False, False),
        ({"properties": {"nullable": {"type": "string"}}}, {"nullable": 1}, False, False),
    ],
)
def test_the_dialect_of_3_0_means_what_it_says_there(
    schema: object, value: Json, *, old: bool, new: bool | None
) -> None:
    assert allows(schema, value, openapi="3.0.3") is old
    if new is not None:
        assert allows(schema, value, openapi="3.1.0") is new
