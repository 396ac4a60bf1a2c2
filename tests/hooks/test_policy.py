"""The policy of one session: deny wins, nothing is allowed without a scope, failures refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import ConfigError, UsageError
from ghost_hooks.policy import Policy
from ghost_hooks.request import Request
from ghost_hooks.target import Target
from support.policies import (
    FORM,
    TOOLS,
    before,
    charge,
    code_of,
    judged,
    make_policy,
    make_settings,
    write_hook,
)

# Scopes


def test_no_scope_allows_nothing(tmp_path: Path) -> None:
    decision = judged(make_policy(tmp_path), "GET", "https://api.stripe.com/v1/charges")
    assert not decision.allowed
    assert code_of(decision) == "scope.host"


def test_a_credential_for_a_host_is_no_scope(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "free", rules=[])
    assert code_of(judged(policy, "GET", "https://api.stripe.com/v1/x")) == "scope.host"


def test_a_tool_allows_its_actions_and_names_its_credential(tmp_path: Path) -> None:
    decision = judged(make_policy(tmp_path, "stripe"), "POST", "https://api.stripe.com/v1/charges")
    assert decision.allowed
    assert (decision.tool, decision.action) == ("stripe", "create")
    assert decision.credential == "stripe"
    assert decision.ghost_token
    assert not decision.raw
    assert decision.denial is None
    assert [each.entry() for each in decision.verdicts] == [
        {"by": "scope", "rule": "stripe", "verdict": "allow", "ms": 0}
    ]


def test_an_action_that_the_tool_does_not_have_is_refused_with_what_is_allowed(
    tmp_path: Path,
) -> None:
    policy = make_policy(tmp_path, "stripe:create", "GET https://api.stripe.com/health")
    decision = judged(policy, "DELETE", "https://api.stripe.com/v1/charges")
    assert code_of(decision) == "scope.action"
    assert (decision.tool, decision.action) == ("api.stripe.com", "DELETE")
    assert decision.denial is not None
    assert "stripe:create, GET https://api.stripe.com/health" in decision.denial.reason
    assert "/v1/charges" not in decision.denial.reason
    assert decision.hint.endswith(": scope 'DELETE https://api.stripe.com/v1/charges'")
    assert "human" in decision.hint
    assert "spawn" not in decision.hint


def test_an_ungranted_action_is_refused_with_its_scope_as_hint(tmp_path: Path) -> None:
    decision = judged(make_policy(tmp_path, "free"), "POST", "https://api.stripe.com/v1/charges")
    assert decision.hint.endswith(": scope stripe:create")
    decision = judged(make_policy(tmp_path, "stripe"), "GET", "https://free.example/v1/x")
    assert decision.hint.endswith(": scope free")


def test_a_wider_action_does_not_allow_what_a_narrower_one_is(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe:list")
    assert judged(policy, "GET", "https://api.stripe.com/v1/charges").action == "list"
    assert code_of(judged(policy, "GET", "https://api.stripe.com/v1/secrets")) == "scope.action"


def test_a_path_that_is_two_actions_by_its_escapes_is_neither(tmp_path: Path) -> None:
    tools = {
        "jobs": {
            "base_url": "https://jobs.example",
            "actions": {
                "any": {"method": "POST", "path": "/v1/*"},
                "erase": {"method": "POST", "path": "/v1/{id}:erase"},
                "café": {"method": "POST", "path": "/café/a%3Ab"},
                "admin": {"method": "POST", "path": "/v1/admin/users"},
            },
        }
    }
    policy = make_policy(tmp_path, "jobs", tools=tools)
    assert judged(policy, "POST", "https://jobs.example/v1/x:erase").action == "erase"
    assert judged(policy, "POST", "https://jobs.example/v1/x%3Arun").action == "any"
    assert judged(policy, "POST", "https://jobs.example/caf%C3%A9/a%3Ab").allowed
    assert judged(policy, "POST", "https://jobs.example/v1/x%2Fy").action == "any"
    for path in ("/v1/x%3Aerase", "/caf%C3%A9/a:b", "/v1/admin%2Fusers"):
        assert code_of(judged(policy, "POST", "https://jobs.example" + path)) == "scope.action"
    raw = make_policy(
        tmp_path, "POST https://jobs.example/a:b", "POST https://jobs.example/*", tools={}
    )
    assert judged(raw, "POST", "https://jobs.example/a%3Ab").verdicts[0].rule.endswith("/*")


def test_a_rule_finds_an_action_behind_escapes(tmp_path: Path) -> None:
    tools = {
        "jobs": {
            "base_url": "https://jobs.example",
            "actions": {"erase": {"method": "POST", "path": "/v1/{id}:erase"}},
        }
    }
    rules = [{"deny": {"tool": "jobs", "action": "erase"}}]
    policy = make_policy(tmp_path, "POST https://jobs.example/**", tools=tools, rules=rules)
    assert code_of(judged(policy, "POST", "https://jobs.example/v1/x%3Aerase")) == "rule.denied"


def test_a_raw_scope_is_recorded_by_host_and_method(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "GET,POST https://raw.example/v1/*")
    decision = judged(policy, "POST", "https://raw.example/v1/x?y=1")
    assert (decision.tool, decision.action) == ("raw.example", "POST")
    assert decision.credential is None
    assert decision.raw
    assert not decision.ghost_token
    assert judged(policy, "HEAD", "https://raw.example/v1/x").allowed
    assert not judged(policy, "PUT", "https://raw.example/v1/x").allowed


def test_a_tool_comes_before_a_raw_scope_for_the_same_request(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "POST https://api.stripe.com/v1/charges", "stripe")
    assert judged(policy, "POST", "https://api.stripe.com/v1/charges").tool == "stripe"
    assert judged(policy, "POST", "https://api.stripe.com/v1/charges").needs_body


def test_the_more_specific_raw_scope_is_the_one_named(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "GET https://raw.example/**", "GET https://raw.example/a")
    assert (
        judged(policy, "GET", "https://raw.example/a").verdicts[0].rule
        == "GET https://raw.example/a"
    )


def test_a_tool_without_actions_allows_any_method_under_its_url(tmp_path: Path) -> None:
    decision = judged(make_policy(tmp_path, "free"), "PATCH", "https://free.example/v1/a/b")
    assert (decision.tool, decision.action, decision.credential) == ("free", "PATCH", None)
    assert not decision.ghost_token
    assert not judged(make_policy(tmp_path, "free"), "GET", "https://free.example/v2").allowed


def test_a_method_is_the_action_of_a_tool_without_actions(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "free:GET")
    assert judged(policy, "HEAD", "https://free.example/v1/x").allowed
    assert code_of(judged(policy, "POST", "https://free.example/v1/x")) == "scope.action"


def test_an_action_may_be_held_to_a_host(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "wide:Describe*@eu.wide.example")
    assert judged(policy, "GET", "https://eu.wide.example/").allowed
    assert code_of(judged(policy, "GET", "https://us.wide.example/")) == "scope.host"
    assert code_of(judged(policy, "DELETE", "https://eu.wide.example/")) == "scope.action"
    assert code_of(judged(policy, "GET", "https://a.eu.wide.example/")) == "scope.host"


def test_a_named_host_and_a_wild_one_are_judged_together(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "wide", "POST https://eu.wide.example/x")
    assert judged(policy, "GET", "https://eu.wide.example/").tool == "wide"
    assert judged(policy, "POST", "https://eu.wide.example/x").raw
    assert judged(policy, "GET", "https://us.wide.example/").allowed


def test_http_is_refused_unless_spelled(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe", "GET http://plain.example/")
    assert code_of(judged(policy, "GET", "http://api.stripe.com/v1/charges")) == "scope.host"
    assert judged(policy, "GET", "http://plain.example/").allowed
    assert not judged(policy, "GET", "https://plain.example/").allowed


@pytest.mark.parametrize("method", ["get", "CONNECT", "TRACE", "", "GET\r\nX", "G" * 99])
def test_a_method_that_cannot_be_judged_is_refused(tmp_path: Path, method: str) -> None:
    decision = judged(
        make_policy(tmp_path, "* https://raw.example/**"), method, "https://raw.example/"
    )
    assert decision.denial is not None
    assert (decision.denial.code, decision.denial.status) == ("request.method", 400)


def test_an_unknown_tool_in_a_live_session_allows_nothing_and_breaks_nothing(
    tmp_path: Path,
) -> None:
    policy = make_policy(tmp_path, "removed", "free")
    assert judged(policy, "GET", "https://free.example/v1/x").allowed
    with pytest.raises(UsageError):
        make_policy(tmp_path, "GET nowhere")


def test_a_host_is_reachable_only_if_a_scope_names_it(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "wide:Describe*@eu.wide.example", "stripe")
    assert policy.reachable(Target("https", "api.stripe.com", 443)).allow
    assert policy.reachable(Target("https", "eu.wide.example", 443)).allow
    for host, port in (("us.wide.example", 443), ("api.stripe.com", 8443), ("x.example", 443)):
        verdict = policy.reachable(Target("https", host, port))
        assert (verdict.allow, verdict.code) == (False, "scope.host")


def test_a_declared_call_is_judged_as_the_tool_and_action_it_declares(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe", "free", "GET https://api.stripe.com/**")
    target = Target.parse("https://api.stripe.com/v1/secrets")
    assert policy.judge("GET", target).action == "secrets"
    assert policy.judge("GET", target, wanted=("stripe", "twin")).action == "twin"
    for wanted in (("stripe", "list"), ("stripe", "nothing"), ("other", "x")):
        decision = policy.judge("GET", target, wanted=wanted)
        assert code_of(decision) == "scope.action"
    assert policy.judge("GET", target, wanted=("stripe", "list")).hint.endswith("stripe:list")
    free = Target.parse("https://free.example/v1/x")
    assert policy.judge("GET", free, wanted=("free", "GET /x")).tool == "free"


# Rules


@pytest.mark.parametrize("order", [1, -1])
def test_deny_wins_in_any_order(tmp_path: Path, order: int) -> None:
    rules = [{"deny": {"path": "/v1/secrets"}}, {"deny": {"host": "other.example"}}][::order]
    policy = make_policy(tmp_path, "GET https://api.stripe.com/**", rules=rules)
    assert code_of(judged(policy, "GET", "https://api.stripe.com/v1/secrets")) == "rule.denied"
    assert judged(policy, "GET", "https://api.stripe.com/v1/charges").allowed


def test_a_rule_about_a_tool_holds_under_a_raw_scope_too(tmp_path: Path) -> None:
    rules = [{"deny": {"tool": "stripe", "action": "create"}}]
    policy = make_policy(tmp_path, "* https://api.stripe.com/**", rules=rules)
    assert code_of(judged(policy, "POST", "https://api.stripe.com/v1/charges")) == "rule.denied"
    assert judged(policy, "GET", "https://api.stripe.com/v1/charges").allowed


def test_a_rule_that_asks_for_approval_refuses(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe", rules=[{"approve": {"tool": "str*"}}])
    decision = judged(policy, "GET", "https://api.stripe.com/v1/charges")
    assert code_of(decision) == "rule.approval"
    assert decision.hint == "a human can change rule rules.0"


def test_a_rule_with_a_condition_waits_for_the_parameters(tmp_path: Path) -> None:
    rules = [{"approve": {"tool": "stripe", "action": "create", "when": "amount > 1000"}}]
    policy = make_policy(tmp_path, "stripe", rules=rules)
    assert before(policy, charge(b"amount=1000"))[-1].allow
    (verdict,) = before(policy, charge(b"amount=1001"))
    assert (verdict.code, verdict.rule) == ("rule.approval", "rules.0")
    assert not before(policy, charge(b"amount=1&amount=5000"))[-1].allow
    assert not before(policy, charge(b"amount=1", *FORM, query="amount=5000"))[-1].allow


def test_a_condition_is_judged_where_no_schema_is(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "free", rules=[{"deny": {"when": "a must exist"}}])
    url = "https://free.example/v1/x"
    assert before(policy, Request("GET", Target.parse(url), (), b"")) == ()
    (verdict,) = before(policy, Request("GET", Target.parse(url + "?a=1"), (), b""))
    assert verdict.code == "rule.denied"


def test_a_call_that_nothing_more_judges_has_no_further_verdicts(tmp_path: Path) -> None:
    request = Request("GET", Target.parse("https://free.example/v1/x"))
    assert before(make_policy(tmp_path, "free"), request) == ()


def test_rule_files_hold_from_the_next_request(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    assert judged(policy, "GET", "https://api.stripe.com/v1/x").allowed
    (tmp_path / "rules").mkdir()
    rules = tmp_path / "rules" / "a.yaml"
    rules.write_text("- deny: {host: api.stripe.com}\n")
    assert code_of(judged(policy, "GET", "https://api.stripe.com/v1/x")) == "rule.denied"
    rules.write_text("- broken")
    decision = judged(policy, "GET", "https://api.stripe.com/v1/x")
    assert (code_of(decision), decision.allowed) == ("hook.failed", False)
    assert len(policy.hash) == 64


# Configuration and hash


@pytest.mark.parametrize(
    "more",
    [
        {"rules": [{"deny": {"when": "x"}}]},
        {"tools": {"a": {"base_url": "x"}}},
        {
            "tools": {
                "a": {
                    "base_url": "https://a.example",
                    "actions": {"x": {"request_schema": {"type": "nonsense"}}},
                }
            }
        },
        {
            "tools": {
                "stripe": {
                    "base_url": "https://a.example",
                    "actions": {"x": {"response_schema": "/missing.json"}},
                }
            }
        },
    ],
)
def test_a_broken_configuration_is_found_when_the_policy_is_made(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_policy(tmp_path, "stripe", **more)
    assert caught.value.exit_code == 3


def test_equal_policies_have_equal_hashes_and_different_ones_do_not(tmp_path: Path) -> None:
    base = make_policy(tmp_path, "stripe", "free").hash
    assert base == make_policy(tmp_path, "free,stripe").hash
    assert len(base) == 64
    others = {
        make_policy(tmp_path, "stripe").hash,
        make_policy(tmp_path, "stripe", "free", rules=[{"deny": {"host": "x.example"}}]).hash,
        make_policy(tmp_path, "stripe", "free", tools={"stripe": TOOLS["stripe"]}).hash,
        make_policy(
            tmp_path,
            "stripe",
            "free",
            credentials={"stripe": {"secret": "env:X", "hosts": ["api.stripe.com/v1/**"]}},
        ).hash,
        make_policy(tmp_path, "stripe", "free", proxy={"buffer_limit": "1MB"}).hash,
    }
    assert len(others) == 5
    assert base not in others


def test_the_hash_follows_hook_and_rule_files(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    seen = [policy.hash]
    hook = write_hook(tmp_path, "_pre.sh", "#!/bin/sh\n")
    seen.append(policy.hash)
    hook.write_text("#!/bin/sh\nexit 0\n")
    seen.append(policy.hash)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.yaml").write_text("- deny: {host: a.example}\n")
    seen.append(policy.hash)
    assert len(set(seen)) == 4
    assert policy.hash == seen[-1]


# The set of hosts that get a credential lies inside the set that scopes name.


_HOSTS = st.sampled_from(
    ["api.stripe.com", "stripe.com", "files.stripe.com", "free.example", "a.wide.example", "x.test"]
)


@given(
    _HOSTS,
    st.sampled_from(["GET", "POST", "DELETE"]),
    st.sampled_from(["/", "/v1/charges", "/v1/x"]),
)
def test_a_call_with_a_credential_is_always_one_that_a_scope_names(
    host: str, method: str, path: str
) -> None:
    policy = _PROPERTY_POLICY
    target = Target("https", host, 443, path)
    decision = policy.judge(method, target)
    if decision.credential is not None:
        assert decision.allowed
        assert policy.reachable(target).allow
        assert host == "api.stripe.com"
    if not decision.allowed:
        assert decision.credential is None
        assert not decision.ghost_token


_PROPERTY_POLICY = Policy(make_settings(Path("/nonexistent/hooks")), ["stripe", "free", "wide"])
