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


_REPLY = "paths: {/a: {get: {operationId: a, responses: {200: {MEDIA}}}}}"
_SCHEMA = "content: {application/json: {schema: {$ref: 'REF'}}}"
_REPLIES = """
openapi: 3.0.3
paths:
  /a:
    get:
      operationId: a
      responses:
        200: {$ref: '#/components/responses/Pet'}
        2xx: {content: {application/hal+json; charset=utf-8: {schema: {type: object}}}}
        '202': {description: taken}
        404: {content: {application/json: {schema: {type: string}}}}
        default: {content: {text/csv: {}, application/json: {schema: {type: array}}}}
components:
  responses:
    Pet: {content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
  schemas:
    Pet:
      required: [name]
      properties: {name: {type: string}, born: {type: string, enum: [2020-01-01]}}
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
        "- a list",
        "swagger: '2.0'\npaths: {}",
        "paths: {/a: {$ref: 'other.yaml#/a'}}",
        "paths: {/a: {get: {operationId: a, responses: {200: {$ref: '#/components/responses/x'}}}}}",
        "!!python/object/apply:os.getcwd []",
    ],
)
def test_a_broken_document_is_a_configuration_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        operations(file)
    assert caught.value.code == "tool.openapi"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("paths: {/a: {get: {}}}", "GET /a: expected an operationId"),
        (
            _REPLY.replace("MEDIA", "$ref: '#/components/responses/None'"),
            "operation 'a': reference",
        ),
        (_REPLY.replace("MEDIA", _SCHEMA.replace("REF", "other.yaml")), "operation 'a': reference"),
        (_REPLY.replace("MEDIA", _SCHEMA.replace("REF", "#/paths")), "operation 'a': reference"),
        ("paths:\n  - [", "cannot be read, line 3"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_operation(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        operations(file)
    assert caught.value.message.startswith(f"openapi {str(file)!r}: {why}")


def test_a_document_may_be_json_and_a_broken_one_tells_its_line(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    file.write_text('{"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "a"}}}}')
    assert list(operations(file)) == ["a"]
    file.write_text('{"paths":\n{,}}')
    with pytest.raises(ConfigError, match="line 2"):
        operations(file)


def test_a_document_over_the_limit_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_bytes(b"#" * (16 * 1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="larger than 16 MiB"):
        operations(file)


def test_replies_have_their_schemas_by_status(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(_REPLIES)
    found = operations(file)["a"].response_schemas
    assert list(found) == ["200", "2XX", "202", "default"]
    assert found["202"] == {}
    pet = found["200"]
    assert isinstance(pet, dict)
    assert Schema("s", pet).verdict({"name": "x", "born": "2020-01-01"}, typed=True).allow
    assert not Schema("s", pet).verdict({}, typed=True).allow


@pytest.mark.parametrize(
    ("body", "empty"),
    [
        ("", "judge"),
        ("requestBody: {content: {application/json: {}}}", "allow"),
        ("requestBody: {required: true, content: {application/json: {}}}", "refuse"),
        ("requestBody: {$ref: '#/components/requestBodies/b'}", "refuse"),
    ],
)
def test_whether_a_body_must_be_there_is_the_document_s_to_say(
    tmp_path: Path, body: str, empty: str
) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(
        "components: {requestBodies: {b: {required: true, content: {application/json: {}}}}}\n"
        f"paths:\n  /a:\n    post:\n      operationId: a\n      {body}\n"
    )
    assert operations(file)["a"].empty_body == empty


def test_a_path_may_be_described_elsewhere_in_the_document(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(
        "paths: {/a: {$ref: '#/components/pathItems/a'}, x-own: {get: {}}}\n"
        "components: {pathItems: {a: {parameters: [{name: id, in: query}], get: {operationId: a}}}}"
    )
    assert [(name, each.path) for name, each in operations(file).items()] == [("a", "/a")]


def test_a_missing_or_unreadable_document_is_a_configuration_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(ConfigError):
            operations(path)
