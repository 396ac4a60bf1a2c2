"""Scopes, compiled by host."""

from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings import Settings
from ghost_hooks.grants import Grants
from ghost_hooks.scope import Scope
from ghost_hooks.target import Target
from ghost_hooks.tools import Catalogue


def _grants(*scopes: str, **tools: object) -> Grants:
    catalogue = Catalogue.from_settings(Settings.model_validate({"tools": tools}))
    return Grants.compile(catalogue, [Scope.parse(text) for text in scopes])


def test_a_wild_host_is_one_label_deep() -> None:
    grants = _grants("GET https://*.example.com/")
    assert grants.find("GET", Target.parse("https://a.example.com/")) is not None
    for url in ("https://example.com/", "https://b.a.example.com/", "https://aexample.com/"):
        assert grants.find("GET", Target.parse(url)) is None


def test_a_name_under_a_wild_host_keeps_the_wild_grants() -> None:
    grants = _grants("GET https://*.example.com/", "POST https://a.example.com/")
    target = Target.parse("https://a.example.com/")
    for method in ("GET", "POST"):
        assert grants.find(method, target) is not None
    assert len(grants.at("https", "a.example.com", 443)) == 2
    assert len(grants.at("https", "b.example.com", 443)) == 1


def test_each_port_is_a_place_of_its_own() -> None:
    grants = _grants("GET https://a.example:8443/", "GET https://*.example/")
    assert grants.find("POST", Target.parse("https://a.example:8443/")) is None
    assert len(grants.at("https", "a.example", 8443)) == 1
    assert len(grants.at("https", "a.example", 443)) == 1


def test_the_scope_that_allows_is_named() -> None:
    tool = {"base_url": "https://*.example", "actions": {"get": {"method": "GET", "path": "/"}}}
    grants = _grants("t:put", "t:g*@b.example", "t:get@a.example", t=tool)
    grant = grants.find("GET", Target.parse("https://a.example/"))
    assert grant is not None
    assert grant.scope == "t:get@a.example"
    assert grants.find("GET", Target.parse("https://c.example/")) is None


@pytest.mark.parametrize("path", ["/Export", "/export/", "/EXPORT;v=1"])
def test_an_action_in_another_spelling_is_not_a_wider_one(path: str) -> None:
    actions = {
        "read": {"method": "GET", "path": "/**"},
        "export": {"method": "GET", "path": "/export"},
    }
    grants = _grants("t:read", t={"base_url": "https://a.example", "actions": actions})
    assert grants.find("GET", Target.parse("https://a.example/other")) is not None
    assert grants.find("GET", Target.parse(f"https://a.example{path}")) is None


def test_two_spellings_can_be_two_actions() -> None:
    actions = {
        "list": {"method": "GET", "path": "/items"},
        "slash": {"method": "GET", "path": "/items/"},
    }
    grants = _grants("t", t={"base_url": "https://a.example", "actions": actions})
    found = [grants.find("GET", Target.parse(f"https://a.example/items{end}")) for end in ("", "/")]
    assert [each and each.action for each in found] == ["list", "slash"]


def test_a_schema_of_a_tool_that_no_scope_names_is_read_too() -> None:
    actions = {"x": {"request_schema": {"type": "nonsense"}}}
    with pytest.raises(ConfigError):
        _grants(t={"base_url": "https://a.example", "actions": actions})
