"""Tools of the settings: whose a request is, and how one is built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ghost_core.errors import ConfigError, UsageError
from ghost_core.settings import Settings
from ghost_hooks.target import Target
from ghost_hooks.tools import Catalogue

_STRIPE = {
    "base_url": "https://api.stripe.com/v1/",
    "idempotency": "header:Idempotency-Key",
    "actions": {
        "create": {"method": "POST", "path": "/charges", "params": "form"},
        "get": {"method": "GET", "path": "/charges/{id}"},
        "search": {"method": "GET", "path": "/charges/search", "params": "query"},
        "rest": {"method": "*", "path": "/**"},
        "erase": {"method": "DELETE", "path": "/charges/{id}"},
        "update": {"method": "PUT,PATCH", "path": "/charges/{id}", "params": "json"},
        "any": {"method": "GET", "path": "/files/*"},
    },
}


def _catalogue(**tools: Any) -> Catalogue:
    return Catalogue.from_settings(Settings.model_validate({"tools": tools}))


def _match(catalogue: Catalogue, method: str, url: str) -> list[tuple[str, str | None]]:
    return catalogue.match(method, Target.parse(url))


@pytest.mark.parametrize(
    ("method", "path", "action"),
    [
        ("POST", "/v1/charges", "create"),
        ("POST", "/v1/charges?x=1", "create"),
        ("GET", "/v1/charges/ch_1", "get"),
        ("HEAD", "/v1/charges/ch_1", "get"),
        ("GET", "/v1/charges/search", "search"),
        ("GET", "/v1/charges/a%2Fb", "get"),
        ("GET", "/v1/charges/a/b", "rest"),
        ("PATCH", "/v1/charges/ch_1", "update"),
    ],
)
def test_the_most_specific_action_wins(method: str, path: str, action: str) -> None:
    found = _match(_catalogue(stripe=_STRIPE), method, "https://api.stripe.com" + path)
    assert found == [("stripe", action)]


def test_equal_actions_go_by_their_order_in_the_file() -> None:
    actions = {name: {"method": "GET", "path": "/x"} for name in ("second", "first")}
    catalogue = _catalogue(a={"base_url": "https://a.example", "actions": actions})
    assert _match(catalogue, "GET", "https://a.example/x") == [("a", "second")]


def test_a_tool_without_actions_is_any_method_under_its_url() -> None:
    catalogue = _catalogue(free={"base_url": "https://a.example/v1"}, none={})
    assert _match(catalogue, "DELETE", "https://a.example/v1/x/y") == [("free", None)]
    assert _match(catalogue, "GET", "https://a.example/v1") == [("free", None)]
    assert _match(catalogue, "GET", "https://a.example/v10") == []


def test_another_scheme_port_or_host_is_not_the_tool() -> None:
    catalogue = _catalogue(stripe=_STRIPE)
    for url in (
        "http://api.stripe.com/v1/charges",
        "https://api.stripe.com:8443/v1/charges",
        "https://api.stripe.com.evil.test/v1/charges",
        "https://x.api.stripe.com/v1/charges",
    ):
        assert _match(catalogue, "POST", url) == []


def test_names_are_given_with_their_actions() -> None:
    names = _catalogue(stripe=_STRIPE, free={"base_url": "https://a.example"}).names
    assert names["free"] == ()
    assert names["stripe"][:2] == ("create", "get")


@pytest.mark.parametrize(
    "tool",
    [
        {"base_url": "api.stripe.com"},
        {"base_url": "https://api.stripe.com/?a=1"},
        {"base_url": "https://127.1/"},
        {"base_url": "https://*/"},
        {"base_url": "https://u@a.example/"},
        {"base_url": "https://a.example", "actions": {"x": {"path": "x"}}},
        {"base_url": "https://a.example", "actions": {"x": {"path": "/a/**/b"}}},
        {"base_url": "https://a.example", "actions": {"x": {"method": "G T"}}},
    ],
)
def test_a_malformed_tool_is_a_configuration_error(tool: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        _catalogue(bad=tool)
    assert caught.value.code == "tool.malformed"
    assert "'bad'" in caught.value.message


def test_a_form_call_is_built_with_a_key_for_all_attempts() -> None:
    prepared = _catalogue(stripe=_STRIPE).prepare(
        "stripe", "create", {"amount": 5000, "metadata": {"a": "b c"}}, idempotency_key="key-1"
    )
    assert (prepared.method, prepared.url) == ("POST", "https://api.stripe.com/v1/charges")
    assert prepared.body == b"amount=5000&metadata[a]=b+c"
    assert dict(prepared.headers) == {
        b"accept": b"application/json",
        b"content-type": b"application/x-www-form-urlencoded",
        b"idempotency-key": b"key-1",
    }
    assert prepared.idempotency == "key-1"
    assert prepared.repeatable


def test_each_preparation_has_a_key_of_its_own() -> None:
    catalogue = _catalogue(stripe=_STRIPE)
    keys = {catalogue.prepare("stripe", "create", {"amount": 1}).idempotency for _ in range(2)}
    assert len(keys) == 2


def test_path_values_are_encoded_and_do_not_leave_their_segment() -> None:
    catalogue = _catalogue(stripe=_STRIPE)
    prepared = catalogue.prepare("stripe", "get", {"id": "a/b c?é", "expand": ["x", "y"]})
    assert prepared.url == "https://api.stripe.com/v1/charges/a%2Fb%20c%3F%C3%A9?expand=x&expand=y"
    assert prepared.body == b""
    assert prepared.idempotency is None
    for value in ("..", ".", "a/../b"):
        with pytest.raises(UsageError):
            catalogue.prepare("stripe", "get", {"id": value})


@pytest.mark.parametrize("params", [{}, {"id": None}, {"id": ""}, {"id": []}, {"id": {}}])
def test_a_missing_path_value_is_an_error(params: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        _catalogue(stripe=_STRIPE).prepare("stripe", "get", params)


def test_json_goes_into_the_body_and_a_lone_delete_has_none() -> None:
    catalogue = _catalogue(stripe=_STRIPE)
    update = catalogue.prepare("stripe", "update", {"id": 1, "a": {"b": 1.5}})
    assert (update.method, json.loads(update.body)) == ("PUT", {"a": {"b": 1.5}})
    assert update.repeatable
    erase = catalogue.prepare("stripe", "erase", {"id": 1})
    assert (erase.body, erase.url) == (b"", "https://api.stripe.com/v1/charges/1")
    assert catalogue.prepare("stripe", "erase", {"id": 1, "why": "x"}).body == b'{"why":"x"}'
    assert catalogue.prepare("stripe", "search", {"q": "a b"}).url.endswith("/search?q=a+b")


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        ("strip", "create"),
        ("stripe", "creat"),
        ("stripe", "zzz"),
        ("stripe", "rest"),
        ("stripe", "any"),
        ("nowhere", "GET"),
        ("free", "get"),
        ("free", "GET v1"),
        ("wild", "GET /x"),
    ],
)
def test_what_cannot_be_built_is_a_usage_error(tool: str, action: str) -> None:
    catalogue = _catalogue(
        stripe=_STRIPE,
        nowhere={},
        free={"base_url": "https://a.example"},
        wild={"base_url": "https://*.a.example"},
    )
    with pytest.raises(UsageError):
        catalogue.prepare(tool, action, {})


def test_a_tool_without_actions_takes_method_and_path() -> None:
    catalogue = _catalogue(free={"base_url": "https://a.example/v1"})
    listed = catalogue.prepare("free", "GET /models", {"limit": 2})
    assert listed.url == "https://a.example/v1/models?limit=2"
    made = catalogue.prepare("free", "POST /models", {"name": "x"})
    assert made.body == b'{"name":"x"}'
    assert not made.repeatable


@pytest.mark.parametrize("text", ["Idempotency-Key", "header:", "header:a b", "query:key"])
def test_an_odd_idempotency_setting_is_a_configuration_error(text: str) -> None:
    with pytest.raises(ConfigError, match="tool 'a': idempotency: expected header:NAME"):
        _catalogue(a={"base_url": "https://a.example", "idempotency": text})


def test_operations_of_a_document_are_actions(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text("paths: {/pets: {get: {operationId: listPets}}}")
    catalogue = _catalogue(pets={"base_url": "https://a.example", "openapi": str(file)})
    assert _match(catalogue, "GET", "https://a.example/pets") == [("pets", "listPets")]
    assert _match(catalogue, "GET", "https://a.example/other") == []


def test_a_document_without_operations_allows_nothing(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text("paths: {}")
    catalogue = _catalogue(pets={"base_url": "https://a.example", "openapi": str(file)})
    assert catalogue.routes == ()
