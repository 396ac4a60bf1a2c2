"""Rules refuse whatever the scopes say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings import RuleSettings
from ghost_hooks.rules import Rule, RuleFolder, from_settings, read_rules
from ghost_hooks.target import Target


def _rule(**match: str) -> Rule:
    return Rule.from_settings("rules.0", RuleSettings.model_validate({"deny": match}))


def _approval(**match: str) -> Rule:
    return Rule.from_settings("rules.0", RuleSettings.model_validate({"approve": match}))


@pytest.mark.parametrize(
    ("match", "method", "url", "hit"),
    [
        ({"host": "*.internal"}, "GET", "https://a.b.internal/x", True),
        ({"host": "*.internal"}, "GET", "https://internal/x", False),
        ({"host": "*", "method": "DELETE"}, "DELETE", "https://a.example/", True),
        ({"method": "DELETE"}, "POST", "https://a.example/", False),
        ({"method": "GET"}, "HEAD", "https://a.example/", True),
        ({"path": "/admin/**"}, "GET", "https://a.example/admin", True),
        ({"path": "/admin/**"}, "GET", "https://a.example/admin/x", True),
        ({"path": "/admin/**"}, "GET", "https://a.example/administrator", False),
        ({"path": "/v1/x:delete"}, "GET", "https://a.example/v1/x%3Adelete", True),
        ({"path": "/a/*/c"}, "GET", "https://a.example/a/b%2Fc", True),
        ({"tool": "stripe_*"}, "GET", "https://a.example/", True),
        ({"tool": "aws_*"}, "GET", "https://a.example/", False),
        ({"action": "create"}, "GET", "https://a.example/", True),
        ({"action": "delete*"}, "GET", "https://a.example/", False),
    ],
)
def test_a_rule_is_about_some_calls(
    match: dict[str, str], method: str, url: str, hit: bool
) -> None:
    assert _rule(**match).match(method, Target.parse(url), "stripe_create", "create") is hit


def test_a_rule_refuses() -> None:
    verdict = _rule(host="*").verdict()
    assert verdict is not None
    assert not verdict.allow
    assert (verdict.by, verdict.rule, verdict.code) == ("rule", "rules.0", "rule.denied")


def test_a_rule_that_asks_for_approval_refuses_and_says_so() -> None:
    verdict = _approval(tool="stripe_*").verdict()
    assert verdict is not None
    assert verdict.code == "rule.approval"
    assert "approval" in verdict.reason


def test_a_condition_decides_and_an_undecided_one_refuses() -> None:
    rule = _approval(when="amount > 1000")
    assert rule.verdict({"amount": 1000}) is None
    assert rule.verdict({}) is None
    assert rule.verdict({"amount": 1001}) is not None
    undecided = rule.verdict({"amount": "lots"})
    assert undecided is not None
    assert "lots" not in undecided.reason


def test_an_assertion_refuses_what_does_not_satisfy_it() -> None:
    (rule,) = read_rules("a.yaml", b"- assert: {tool: stripe_*, when: amount <= 5}\n")
    assert rule.verdict({"amount": 5}) is None
    for values in ({"amount": 6}, {}, {"amount": "lots"}):
        verdict = rule.verdict(values)
        assert verdict is not None
        assert verdict.code == "rule.denied"
    assert rule.match("POST", Target.parse("https://a.example/"), "stripe_x", "create")
    assert not rule.match("POST", Target.parse("https://a.example/"), "aws", "create")


@pytest.mark.parametrize(
    "match", [{"host": "a..b"}, {"path": "x"}, {"when": "eval()"}, {"method": "G T"}]
)
def test_a_broken_rule_is_a_configuration_error(match: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings([RuleSettings.model_validate({"deny": match})])
    assert caught.value.code == "rule.malformed"
    assert "rules.0" in caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"deny: {host: a}",
        b"- deny: {hots: a.example}",
        b"- assert: {tool: a}",
        b"- assert: amount",
        b"- assert: [a]",
        b"- {assert: a must exist, deny: {host: a}}",
        b"- nothing",
        b"- [",
        b"\xff\xff",
        b"- !!python/object/apply:os.system ['true']",
        b"[" * 100_000,
        b"#" * (1024 * 1024 + 1),
    ],
)
def test_a_broken_rule_file_is_a_configuration_error(data: bytes) -> None:
    with pytest.raises(ConfigError):
        read_rules("a.yaml", data)


def test_an_empty_rule_file_has_no_rules() -> None:
    assert read_rules("a.yaml", b"# nothing\n") == ()


def test_a_rule_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    folder = RuleFolder(tmp_path / "rules")
    assert folder.current() == ()
    (tmp_path / "rules").mkdir()
    file = tmp_path / "rules" / "a.yaml"
    file.write_text("- deny: {host: a.example}\n")
    (tmp_path / "rules" / ".hidden.yaml").write_text("broken: [")
    (tmp_path / "rules" / "notes.txt").write_text("broken: [")
    assert [rule.name for rule in folder.current()] == ["a.yaml.0"]
    file.write_text("- deny: {host: a.example}\n- deny: {host: b.example}\n")
    assert len(folder.current()) == 2
    file.write_text("broken: [")
    with pytest.raises(ConfigError):
        folder.current()
    with pytest.raises(ConfigError):
        folder.current()


def test_settled_rules_are_not_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("- deny: {host: a.example}\n")
    later = file.stat().st_ctime_ns + 10**9
    folder = RuleFolder(tmp_path, now_ns=lambda: later)
    assert folder.current() is folder.current()
    fresh = RuleFolder(tmp_path, now_ns=lambda: later - 10**9)
    assert fresh.current() is not fresh.current()
    file.unlink()
    assert folder.current() == ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"- deny: {tool: a}\n- deny: {tool: a\n", "'a.yaml': is no YAML, line 3"),
        (b"- deny: {tool: a, wen: hunter2}", "'a.yaml.0': deny.wen is unknown"),
        (b"- {dney: {tool: hunter2}}", "'a.yaml.0': dney is unknown"),
        (b"- deny: hunter2", "'a.yaml.0': deny is unknown"),
        (b"- hunter2", "'a.yaml.0': it is unknown"),
        (b"deny: {tool: hunter2}", "'a.yaml': expected a list of rules"),
    ],
    ids=range(6),
)
def test_a_broken_file_is_told_with_its_place_and_no_value(data: bytes, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_rules("a.yaml", data)
    assert said in caught.value.message
    assert "hunter2" not in caught.value.message
    assert "- deny: {tool: payments" in (caught.value.hint or "")


def test_an_unreadable_rule_file_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to(tmp_path / "missing")
    with pytest.raises(ConfigError) as caught:
        RuleFolder(tmp_path).current()
    assert caught.value.code == "rule.malformed"


def test_a_rule_that_names_tools_is_told_from_one_about_hosts() -> None:
    assert _rule(tool="a").named
    assert _rule(action="a").named
    assert not _rule(host="a.example").named
