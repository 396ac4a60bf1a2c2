"""Actions from an OpenAPI document."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ghost_core.errors import ConfigError
from ghost_hooks.openapi import operations
from ghost_hooks.schemas import Schema

_DOCUMENT = """
openapi: 3.1.0
paths:
  /pets:
    parameters: []
    get: {operationId: listPets}
    post:
      operationId: createPet
      requestBody:
        content:
          text/plain: {schema: {type: string}}
          application/json:
            schema: {$ref: '#/components/schemas/Pet'}
  /pets/{id}:
    post:
      operationId: updatePet
      requestBody:
        content:
          application/x-www-form-urlencoded: {}
components:
  schemas:
    Pet: {type: object, required: [name], properties: {name: {type: string}}}
"""


def test_operation_ids_are_actions_with_their_schemas(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(_DOCUMENT)
    found = operations(file)
    assert [(name, each.method, each.path, each.params) for name, each in found.items()] == [
        ("listPets", "GET", "/pets", "query"),
        ("createPet", "POST", "/pets", "json"),
        ("updatePet", "POST", "/pets/{id}", "form"),
    ]
    schema = found["createPet"].request_schema
    assert isinstance(schema, dict)
    assert Schema("s", schema).verdict({"name": "x"}, typed=True).allow
    assert not Schema("s", schema).verdict({}, typed=True).allow
    assert found["updatePet"].request_schema is None


def test_a_changed_document_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text("paths: {/a: {get: {operationId: a}}}")
    assert list(operations(file)) == ["a"]
    file.write_text("paths: {/a: {get: {operationId: bb}}}")
    os.utime(file, ns=(1, 1))
    assert list(operations(file)) == ["bb"]


@pytest.mark.parametrize(
    "text",
    [
        "paths: [",
        "paths: {/a: {get: {}}}",
        "paths: {/a: {get: {operationId: a}, put: {operationId: a}}}",
        "paths: {5: {get: {operationId: a}}}",
        "!!python/object/apply:os.getcwd []",
    ],
)
def test_a_broken_document_is_a_configuration_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        operations(file)
    assert caught.value.code == "tool.openapi"


def test_a_missing_or_unreadable_document_is_a_configuration_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(ConfigError):
            operations(path)
