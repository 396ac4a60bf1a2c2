"""Names that point to another table of the settings, and to nothing."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings import Settings
from ghost_core.settings_tighten import Untrusted
from ghost_hooks.fingerprint import RULES
from ghost_hooks.known import Known, require_credentials
from ghost_hooks.rules import from_settings, read_rules
from ghost_hooks.target import Target
from ghost_hooks.tools import Catalogue
from support.policies import make_policy

PAYMENTS = {
    "base_url": "https://api.example.com",
    "actions": {"create": {}, "balance": {"method": "GET"}},
}
FREE = {"base_url": "https://free.example"}


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "pets.yaml"
    file.write_text("paths: {/pets: {get: {operationId: listPets}}}")
    pets = {"base_url": "https://pets.example", "openapi": str(file)}
    return {"payments": PAYMENTS, "free": FREE, "pets": pets}


def _require(tools: dict[str, Any], *rules: object) -> None:
    settings = Settings.model_validate({"tools": tools, "rules": list(rules)})
    Known.of(Catalogue.from_settings(settings)).require(from_settings(settings.rules))


@pytest.mark.parametrize("key", ["deny", "approve"])
@pytest.mark.parametrize(
    ("match", "message", "hint"),
    [
        ({"tool": "paymentz"}, "tool 'paymentz': no tool has this name", "nearest is payments"),
        ({"tool": "Payments"}, "tool 'Payments': no tool has this name", "nearest is payments"),
        ({"tool": "payments.com"}, "tool 'payments.com': no tool has this", "nearest is payments"),
        (
            {"tool": "payments", "action": "creat"},
            "action 'creat': tool 'payments' has no such action",
            "nearest is create",
        ),
        (
            {"tool": "payments", "action": "listPets"},
            "action 'listPets': tool 'payments' has no such action",
            "ghost config show",
        ),
        ({"tool": "pay*", "action": "creat"}, "action 'creat'", "nearest is create"),
        ({"tool": "payments", "action": "POST"}, "action 'POST'", "ghost config show"),
        ({"tool": "pets", "action": "GET"}, "action 'GET'", "ghost config show"),
        ({"tool": "free", "action": "create"}, "action 'create'", "ghost config show"),
        ({"action": "listPet"}, "action 'listPet': no tool has such an", "nearest is listPets"),
    ],
)
def test_a_rule_whose_name_points_nowhere_is_refused(
    tools: dict[str, Any], key: str, match: dict[str, str], message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        _require(tools, {"deny": {"host": "*.internal"}}, {key: match})
    assert caught.value.message.startswith(f"rules.1: {key}.{message}")
    assert (caught.value.code, caught.value.exit_code) == ("rule.unknown", 3)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "match",
    [
        {"tool": "payments"},
        {"tool": "payments", "action": "create"},
        {"tool": "pay*", "action": "balance"},
        {"tool": "other*"},  # perhaps the tool of a project
        {"tool": "payments", "action": "cr*"},
        {"tool": "pets", "action": "listPets"},
        {"action": "listPets"},
        {"tool": "free", "action": "DELETE"},
        {"action": "DELETE"},  # that of a raw scope is its method
        {"tool": "api.other.example"},  # that of a raw scope is its host
        {"tool": "api.other.example", "action": "DELETE"},
    ],
)
def test_a_rule_whose_names_a_call_can_have_is_taken(
    tools: dict[str, Any], match: dict[str, str]
) -> None:
    _require(tools, {"deny": match})


def test_a_rule_of_an_untrusted_project_is_noted_and_locks_nobody_out(
    tools: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("ghost.settings"), "propagate", True)
    with caplog.at_level(logging.WARNING, "ghost.settings"):
        _require(tools, Untrusted({"deny": {"tool": "not_here"}}))
    (record,) = caplog.records
    assert record.getMessage().startswith("rules.0: deny.tool 'not_here': no tool has this name; ")


def test_assertions_of_a_rule_file_are_read_too(tools: dict[str, Any]) -> None:
    known = Known.of(Catalogue.from_settings(Settings.model_validate({"tools": tools})))
    known.require(read_rules("a.yaml", b"[{assert: {tool: payments, when: amount < 5}}]"))
    with pytest.raises(ConfigError) as caught:
        known.require(read_rules("a.yaml", b"[{assert: {tool: paymentz, when: amount < 5}}]"))
    assert caught.value.message.startswith("a.yaml.0: assert.tool 'paymentz': no tool")


def test_a_policy_with_such_a_rule_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"rules\.0: deny\.tool 'stripee'"):
        make_policy(tmp_path, "stripe", rules=[{"deny": {"tool": "stripee"}}])


def test_a_rule_file_that_turns_wrong_refuses_until_it_is_mended(tmp_path: Path) -> None:
    policy, target = make_policy(tmp_path, "free"), Target.parse("https://free.example/v1/x")
    assert policy.judge("GET", target).allowed
    folder = tmp_path / RULES
    folder.mkdir()
    (folder / "a.yaml").write_text("[{deny: {tool: freee}}]")
    for _ in range(2):
        refused = policy.judge("GET", target)
        assert not refused.allowed
        assert "a.yaml.0: deny.tool 'freee'" in refused.verdicts[0].reason
    (folder / "a.yaml").write_text("[{deny: {tool: stripe}}]")
    assert policy.judge("GET", target).allowed


@pytest.mark.parametrize(
    ("credential", "hint"),
    [("payment", "nearest is payments"), ("nosuch", "add [credentials.nosuch] to ghost.toml")],
)
def test_a_tool_whose_credential_is_not_there_is_refused(
    tmp_path: Path, credential: str, hint: str
) -> None:
    tree = {
        "credentials": {"payments": {"secret": "env:A", "hosts": ["a.test"]}},
        "tools": {"x": {"credential": credential}},
    }
    with pytest.raises(ConfigError) as caught:
        require_credentials(Settings.model_validate(tree))
    assert caught.value.message == f"tool 'x': credential {credential!r} is not configured"
    assert (caught.value.code, caught.value.exit_code) == ("credential.unknown", 3)
    assert caught.value.hint == hint
    with pytest.raises(ConfigError, match="is not configured"):
        make_policy(tmp_path, "x", **tree)


def test_a_tool_with_its_credential_or_without_any_is_taken() -> None:
    tree = {
        "credentials": {"a": {"secret": "env:A", "hosts": ["a.test"]}},
        "tools": {"x": {"credential": "a"}, "y": {}},
    }
    require_credentials(Settings.model_validate(tree))


def test_a_credential_that_could_never_leave_is_refused(tmp_path: Path) -> None:
    tree = {
        "credentials": {"a": {"secret": "env:A", "hosts": ["a.test"]}},
        "tools": {"x": {"credential": "a", "base_url": "http://a.test"}},
    }
    with pytest.raises(ConfigError, match="leaves over https only") as caught:
        make_policy(tmp_path, "x", **tree)
    assert (caught.value.code, caught.value.exit_code) == ("credential.plain", 3)


def test_a_tool_without_a_credential_may_be_plain() -> None:
    require_credentials(Settings.model_validate({"tools": {"x": {"base_url": "http://a.test"}}}))
