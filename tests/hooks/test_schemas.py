"""JSON Schema over what was sent; values never show."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ghost_core.errors import ConfigError
from ghost_hooks.params import Json
from ghost_hooks.schemas import Schema

_AMOUNT = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "maximum": 5000}, "live": {"type": "boolean"}},
    "required": ["amount"],
}


@pytest.mark.parametrize(
    ("values", "typed", "allowed"),
    [
        ({"amount": 5000}, True, True),
        ({"amount": 5001}, True, False),
        ({"amount": Decimal("5000.0")}, True, True),
        ({"amount": Decimal("4.5")}, True, False),
        ({"amount": "5000"}, True, False),
        ({"amount": True}, True, False),
        ({}, True, False),
        ({"amount": "5000", "live": "true"}, False, True),
        ({"amount": "5001"}, False, False),
        ({"amount": "5e9"}, False, False),
        ({"amount": " 1"}, False, False),
        ({"amount": ["1", "9999"]}, False, False),
        ({"amount": "1", "live": "yes"}, False, False),
    ],
)
def test_numbers_are_judged_as_sent(values: Json, typed: bool, allowed: bool) -> None:
    verdict = Schema("s", _AMOUNT).verdict(values, typed=typed)
    assert verdict.allow is allowed


def test_a_mismatch_names_the_place_and_never_the_value() -> None:
    verdict = Schema("s", _AMOUNT).verdict({"amount": 987654}, typed=True)
    assert verdict.reason == "$.amount: does not satisfy 'maximum' 5000"
    assert verdict.hint == "a human can change it: s"
    assert verdict.code == "schema.mismatch"
    assert "987654" not in json.dumps(verdict.entry())


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"multipleOf": 0.1}, Decimal("0.35"), "'multipleOf' 0.1"),
        ({"maxLength": 2}, "hunter2", "'maxLength' 2"),
        ({"type": ["integer", "null"]}, "hunter2", "'type' integer, null"),
        ({"required": ["id", "amount"]}, {"id": 1}, "'required' id, amount"),
        ({"const": "hunter2"}, "x", "'const'"),
        ({"enum": ["hunter2"]}, "x", "'enum'"),
        ({"pattern": "^hunter2$"}, "x", "'pattern'"),
        ({"not": {"type": "string"}}, "hunter2", "'not'"),
        ({"required": ["x" * 999]}, {}, f"'required' {'x' * 119}"),
    ],
)
@pytest.mark.parametrize("typed", [True, False])
def test_a_mismatch_tells_the_bound_and_no_more(
    schema: dict[str, Any], value: Json, told: str, typed: bool
) -> None:
    verdict = Schema("s", schema).verdict(value, typed=typed)
    assert verdict.reason == f"$: does not satisfy {told}"


@pytest.mark.parametrize(
    ("schema", "value", "allowed"),
    [
        ({"maximum": 5}, "4", True),
        ({"maximum": 5}, "6", False),
        ({"maximum": 5}, "4x", False),
        ({"maximum": 5}, ["4"], False),
        ({"minimum": 5}, "4", False),
        ({"exclusiveMinimum": 4}, "4", False),
        ({"exclusiveMaximum": 4}, "4", False),
        ({"multipleOf": 0.1}, "0.3", True),
        ({"multipleOf": 0.1}, "0.35", False),
        ({"enum": [1, 2, "a"]}, "2", True),
        ({"enum": [1, 2, "a"]}, "a", True),
        ({"enum": [1, 2, "a"]}, "3", False),
        ({"const": True}, "true", True),
        ({"const": True}, "1", False),
        ({"const": False}, "true", False),
        ({"type": "number"}, "1.5", True),
        ({"type": "integer"}, "1.5", False),
        ({"type": "integer"}, "1\u0665", False),
        ({"allOf": [{"$ref": "#/$defs/small"}], "$defs": {"small": {"maximum": 5}}}, "6", False),
    ],
)
def test_text_from_a_form_meets_numeric_keywords_as_a_number(
    schema: dict[str, Any], value: Json, allowed: bool
) -> None:
    assert Schema("s", schema).verdict(value, typed=False).allow is allowed


def test_a_truth_value_of_a_form_may_already_be_one() -> None:
    assert Schema("s", {"type": "boolean"}).verdict(True, typed=False).allow
    assert not Schema("s", {"const": True}).verdict(["true"], typed=False).allow


@pytest.mark.parametrize(
    "document",
    [
        {"type": "nonsense"},
        {"maximum": "5"},
        {"pattern": "("},
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "other.json"},
        {"properties": {"a": {"$ref": "#/$defs/missing"}}},
        {"properties": {"enum": {"$ref": "https://example.com/x"}}},
        {"allOf": [{"$dynamicRef": "https://example.com/x"}]},
        {"properties": {"a": {"$id": "https://example.com/x"}}},
        {"default": object()},
        [],
        "text",
        None,
    ],
)
def test_a_broken_or_reaching_schema_is_a_configuration_error(document: object) -> None:
    with pytest.raises(ConfigError) as caught:
        Schema("s", document)
    assert caught.value.code == "schema.broken"
    assert caught.value.exit_code == 3


def test_data_that_looks_like_a_reference_is_data() -> None:
    schema = Schema(
        "s", {"enum": [{"$ref": "https://example.com/x"}], "$id": "https://x.example/s"}
    )
    assert schema.verdict({"$ref": "https://example.com/x"}, typed=True).allow


def test_a_property_may_be_called_ref() -> None:
    schema = Schema("s", {"properties": {"$ref": {"type": "integer"}}})
    assert not schema.verdict({"$ref": "x"}, typed=True).allow


def test_references_within_the_schema_work() -> None:
    schema = Schema("s", {"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}})
    assert schema.verdict([1], typed=True).allow
    assert not schema.verdict(["x"], typed=True).allow


def test_a_boolean_schema_allows_all_or_nothing() -> None:
    assert Schema("s", True).verdict({}, typed=True).allow
    assert not Schema("s", False).verdict({}, typed=True).allow


def test_a_schema_is_loaded_from_a_file_or_a_table(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"maximum": 0.1}')
    assert not Schema.load("s", file).verdict(Decimal("0.2"), typed=True).allow
    assert not Schema.load("s", {"maximum": 0.1}).verdict(Decimal("0.2"), typed=True).allow


@pytest.mark.parametrize("data", [b"{", b"[" * 100_000, b" " * (4 * 1024 * 1024 + 1), b"\xff"])
def test_a_file_that_is_no_schema_is_a_configuration_error(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(data)
    with pytest.raises(ConfigError):
        Schema.load("s", file)


def test_a_missing_file_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        Schema.load("s", tmp_path / "missing.json")
    assert caught.value.code == "schema.broken"
