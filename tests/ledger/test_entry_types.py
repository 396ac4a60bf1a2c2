from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import jsonschema
import pytest

from ghost_ledger import entry_types
from ghost_ledger.entry_types import ENTRY_TYPES, json_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "formats" / "entries"


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
