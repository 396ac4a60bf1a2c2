from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest
from pydantic import ValidationError

from ghost_core.settings_fields import FIELDS
from ghost_core.settings_models import Settings
from ghost_core.settings_tighten import leaves

TEXT = (files("ghost_core") / "ghost.toml").read_text("utf-8")


def as_table(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def test_the_annotated_file_changes_nothing() -> None:
    assert Settings(**tomllib.loads(TEXT)) == Settings()


def test_the_annotated_file_lists_every_default() -> None:
    uncommented = re.sub(r"(?m)^#(?=[a-z_]+ =)", "", TEXT)
    tree = tomllib.loads(uncommented, parse_float=Decimal)
    found = {".".join(steps): as_table(value) for steps, value in leaves(tree)}
    assert found == {key: field.default for key, field in FIELDS.items()}


def test_the_examples_of_the_annotated_file_are_valid() -> None:
    examples = "\n".join(re.findall(r"(?m)^#> (.*)$", TEXT))
    found = Settings(**tomllib.loads(examples, parse_float=Decimal))
    assert found.tools["stripe_create_charge"].actions["create_payment_intent"].params == "form"
    assert [bool(rule.deny) for rule in found.rules] == [True]
    assert found.credentials["stripe"].hosts == ("api.stripe.com",)


def test_settings_read_no_variable_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY", '{"port": 1}')
    monkeypatch.setenv("GHOST_PROXY__PORT", "1")
    assert Settings().proxy.port == 9999


def test_an_error_text_never_repeats_the_value() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings(credentials={"a": {"secret": "hunter2"}})
    assert "hunter2" not in str(caught.value)


def test_an_empty_path_means_none_and_others_are_expanded(home: Path) -> None:
    assert Settings().proxy.upstream_ca is None
    found = Settings(proxy={"upstream_ca": "$GHOST_HOME/ca.pem"})
    assert found.proxy.upstream_ca == home / "ca.pem"
