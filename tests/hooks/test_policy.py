"""The policy of one session: deny wins, nothing is allowed without a scope, failures refuse."""

from __future__ import annotations

import asyncio
import hashlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import ConfigError, UsageError
from ghost_core.settings import Settings
from ghost_hooks.decision import Decision
from ghost_hooks.limits import Spent
from ghost_hooks.policy import Policy
from ghost_hooks.request import Headers, Reply, Request, Verdict
from ghost_hooks.target import Target

_TOOLS: dict[str, Any] = {
    "stripe": {
        "base_url": "https://api.stripe.com",
        "credential": "stripe",
        "actions": {
            "create": {
                "method": "POST",
                "path": "/v1/charges",
                "params": "form",
                "request_schema": {
                    "required": ["amount"],
                    "properties": {"amount": {"type": "integer", "maximum": 5000}},
                },
                "response_schema": {"required": ["id"]},
            },
            "list": {"method": "GET", "path": "/v1/*"},
            "secrets": {"method": "GET", "path": "/v1/secrets"},
            "twin": {"method": "GET", "path": "/v1/secrets"},
            "capped": {"method": "POST", "path": "/v1/capped", "limits": {"bytes": "1kB"}},
            "summed": {
                "method": "POST",
                "path": "/v1/summed",
                "limits": {"sum": {"field": "amount", "max": 5}},
            },
        },
    },
    "free": {"base_url": "https://free.example/v1", "ghost_token": False},
    "wide": {
        "base_url": "https://*.wide.example",
        "actions": {
            "DescribeAll": {"method": "GET", "path": "/"},
            "Delete": {"method": "DELETE", "path": "/"},
        },
    },
}
_FORM: Headers = ((b"content-type", b"application/x-www-form-urlencoded"),)
_JSON: Headers = ((b"content-type", b"application/json"),)
_SESSION = {"id": "gh_1"}


def _settings(folder: Path, **more: Any) -> Settings:
    tree = {"hooks": {"dir": str(folder), "timeout_seconds": 5}, "tools": _TOOLS, **more}
    tree.setdefault("credentials", {"stripe": {"secret": "env:X", "hosts": ["api.stripe.com"]}})
    return Settings.model_validate(tree)


def _policy(folder: Path, *scopes: str, **more: Any) -> Policy:
    return Policy(_settings(folder, **more), scopes)


def _judge(policy: Policy, method: str, url: str) -> Decision:
    return policy.judge(method, Target.parse(url))


def _code(decision: Decision) -> str:
    return decision.denial.code if decision.denial else ""


def _before(policy: Policy, request: Request, **more: Any) -> tuple[Verdict, ...]:
    decision = policy.judge(request.method, request.target)
    return asyncio.run(policy.before(decision, request, _SESSION, "act_1", **more))


def _charge(body: bytes | None, *headers: tuple[bytes, bytes], query: str = "") -> Request:
    target = Target("https", "api.stripe.com", 443, "/v1/charges", query)
    return Request("POST", target, headers or _FORM, body)


def _hook(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o700)
    return path


# Scopes


def test_no_scope_allows_nothing(tmp_path: Path) -> None:
    decision = _judge(_policy(tmp_path), "GET", "https://api.stripe.com/v1/charges")
    assert not decision.allowed
    assert _code(decision) == "scope.host"


def test_a_credential_for_a_host_is_no_scope(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "free", rules=[])
    assert _code(_judge(policy, "GET", "https://api.stripe.com/v1/x")) == "scope.host"


def test_a_tool_allows_its_actions_and_names_its_credential(tmp_path: Path) -> None:
    decision = _judge(_policy(tmp_path, "stripe"), "POST", "https://api.stripe.com/v1/charges")
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
    policy = _policy(tmp_path, "stripe:create", "GET https://api.stripe.com/health")
    decision = _judge(policy, "DELETE", "https://api.stripe.com/v1/charges")
    assert _code(decision) == "scope.action"
    assert (decision.tool, decision.action) == ("api.stripe.com", "DELETE")
    assert decision.denial is not None
    assert "stripe:create, GET https://api.stripe.com/health" in decision.denial.reason
    assert "/v1/charges" not in decision.denial.reason
    assert "ghost spawn --scope 'DELETE https://api.stripe.com/v1/charges'" in decision.hint


def test_an_ungranted_action_is_refused_with_its_scope_as_hint(tmp_path: Path) -> None:
    decision = _judge(_policy(tmp_path, "free"), "POST", "https://api.stripe.com/v1/charges")
    assert decision.hint.endswith("ghost spawn --scope stripe:create")
    decision = _judge(_policy(tmp_path, "stripe"), "GET", "https://free.example/v1/x")
    assert decision.hint.endswith("ghost spawn --scope free")


def test_a_wider_action_does_not_allow_what_a_narrower_one_is(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe:list")
    assert _judge(policy, "GET", "https://api.stripe.com/v1/charges").action == "list"
    assert _code(_judge(policy, "GET", "https://api.stripe.com/v1/secrets")) == "scope.action"


def test_a_path_that_is_two_actions_by_its_escapes_is_neither(tmp_path: Path) -> None:
    tools = {
        "jobs": {
            "base_url": "https://jobs.example",
            "actions": {
                "any": {"method": "POST", "path": "/v1/*"},
                "erase": {"method": "POST", "path": "/v1/{id}:erase"},
                "café": {"method": "POST", "path": "/café/a%3Ab"},
            },
        }
    }
    policy = _policy(tmp_path, "jobs", tools=tools)
    assert _judge(policy, "POST", "https://jobs.example/v1/x:erase").action == "erase"
    assert _judge(policy, "POST", "https://jobs.example/v1/x%3Arun").action == "any"
    assert _judge(policy, "POST", "https://jobs.example/caf%C3%A9/a%3Ab").allowed
    for path in ("/v1/x%3Aerase", "/caf%C3%A9/a:b"):
        assert _code(_judge(policy, "POST", "https://jobs.example" + path)) == "scope.action"
    raw = _policy(
        tmp_path, "POST https://jobs.example/a:b", "POST https://jobs.example/*", tools={}
    )
    assert _judge(raw, "POST", "https://jobs.example/a%3Ab").verdicts[0].rule.endswith("/*")


def test_a_rule_finds_an_action_behind_escapes(tmp_path: Path) -> None:
    tools = {
        "jobs": {
            "base_url": "https://jobs.example",
            "actions": {"erase": {"method": "POST", "path": "/v1/{id}:erase"}},
        }
    }
    rules = [{"deny": {"tool": "jobs", "action": "erase"}}]
    policy = _policy(tmp_path, "POST https://jobs.example/**", tools=tools, rules=rules)
    assert _code(_judge(policy, "POST", "https://jobs.example/v1/x%3Aerase")) == "rule.denied"


def test_a_raw_scope_is_recorded_by_host_and_method(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "GET,POST https://raw.example/v1/*")
    decision = _judge(policy, "POST", "https://raw.example/v1/x?y=1")
    assert (decision.tool, decision.action) == ("raw.example", "POST")
    assert decision.credential is None
    assert decision.raw
    assert not decision.ghost_token
    assert _judge(policy, "HEAD", "https://raw.example/v1/x").allowed
    assert not _judge(policy, "PUT", "https://raw.example/v1/x").allowed


def test_a_tool_comes_before_a_raw_scope_for_the_same_request(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "POST https://api.stripe.com/v1/charges", "stripe")
    assert _judge(policy, "POST", "https://api.stripe.com/v1/charges").tool == "stripe"
    assert _judge(policy, "POST", "https://api.stripe.com/v1/charges").needs_body


def test_the_more_specific_raw_scope_is_the_one_named(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "GET https://raw.example/**", "GET https://raw.example/a")
    assert (
        _judge(policy, "GET", "https://raw.example/a").verdicts[0].rule
        == "GET https://raw.example/a"
    )


def test_a_tool_without_actions_allows_any_method_under_its_url(tmp_path: Path) -> None:
    decision = _judge(_policy(tmp_path, "free"), "PATCH", "https://free.example/v1/a/b")
    assert (decision.tool, decision.action, decision.credential) == ("free", "PATCH", None)
    assert not decision.ghost_token
    assert not _judge(_policy(tmp_path, "free"), "GET", "https://free.example/v2").allowed


def test_a_method_is_the_action_of_a_tool_without_actions(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "free:GET")
    assert _judge(policy, "HEAD", "https://free.example/v1/x").allowed
    assert _code(_judge(policy, "POST", "https://free.example/v1/x")) == "scope.action"


def test_an_action_may_be_held_to_a_host(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "wide:Describe*@eu.wide.example")
    assert _judge(policy, "GET", "https://eu.wide.example/").allowed
    assert _code(_judge(policy, "GET", "https://us.wide.example/")) == "scope.host"
    assert _code(_judge(policy, "DELETE", "https://eu.wide.example/")) == "scope.action"
    assert _code(_judge(policy, "GET", "https://a.eu.wide.example/")) == "scope.host"


def test_a_named_host_and_a_wild_one_are_judged_together(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "wide", "POST https://eu.wide.example/x")
    assert _judge(policy, "GET", "https://eu.wide.example/").tool == "wide"
    assert _judge(policy, "POST", "https://eu.wide.example/x").raw
    assert _judge(policy, "GET", "https://us.wide.example/").allowed


def test_http_is_refused_unless_spelled(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe", "GET http://plain.example/")
    assert _code(_judge(policy, "GET", "http://api.stripe.com/v1/charges")) == "scope.host"
    assert _judge(policy, "GET", "http://plain.example/").allowed
    assert not _judge(policy, "GET", "https://plain.example/").allowed


@pytest.mark.parametrize("method", ["get", "CONNECT", "TRACE", "", "GET\r\nX", "G" * 99])
def test_a_method_that_cannot_be_judged_is_refused(tmp_path: Path, method: str) -> None:
    decision = _judge(_policy(tmp_path, "* https://raw.example/**"), method, "https://raw.example/")
    assert decision.denial is not None
    assert (decision.denial.code, decision.denial.status) == ("request.method", 400)


def test_an_unknown_tool_in_a_live_session_allows_nothing_and_breaks_nothing(
    tmp_path: Path,
) -> None:
    policy = _policy(tmp_path, "removed", "free")
    assert _judge(policy, "GET", "https://free.example/v1/x").allowed
    with pytest.raises(UsageError):
        _policy(tmp_path, "GET nowhere")


def test_a_host_is_reachable_only_if_a_scope_names_it(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "wide:Describe*@eu.wide.example", "stripe")
    assert policy.reachable(Target("https", "api.stripe.com", 443)).allow
    assert policy.reachable(Target("https", "eu.wide.example", 443)).allow
    for host, port in (("us.wide.example", 443), ("api.stripe.com", 8443), ("x.example", 443)):
        verdict = policy.reachable(Target("https", host, port))
        assert (verdict.allow, verdict.code) == (False, "scope.host")


def test_a_declared_call_is_judged_as_the_tool_and_action_it_declares(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe", "free", "GET https://api.stripe.com/**")
    target = Target.parse("https://api.stripe.com/v1/secrets")
    assert policy.judge("GET", target).action == "secrets"
    assert policy.judge("GET", target, wanted=("stripe", "twin")).action == "twin"
    for wanted in (("stripe", "list"), ("stripe", "nothing"), ("other", "x")):
        decision = policy.judge("GET", target, wanted=wanted)
        assert _code(decision) == "scope.action"
    assert policy.judge("GET", target, wanted=("stripe", "list")).hint.endswith("stripe:list")
    free = Target.parse("https://free.example/v1/x")
    assert policy.judge("GET", free, wanted=("free", "GET /x")).tool == "free"


# Rules


@pytest.mark.parametrize("order", [1, -1])
def test_deny_wins_in_any_order(tmp_path: Path, order: int) -> None:
    rules = [{"deny": {"path": "/v1/secrets"}}, {"deny": {"host": "other.example"}}][::order]
    policy = _policy(tmp_path, "GET https://api.stripe.com/**", rules=rules)
    assert _code(_judge(policy, "GET", "https://api.stripe.com/v1/secrets")) == "rule.denied"
    assert _judge(policy, "GET", "https://api.stripe.com/v1/charges").allowed


def test_a_rule_about_a_tool_holds_under_a_raw_scope_too(tmp_path: Path) -> None:
    rules = [{"deny": {"tool": "stripe", "action": "create"}}]
    policy = _policy(tmp_path, "* https://api.stripe.com/**", rules=rules)
    assert _code(_judge(policy, "POST", "https://api.stripe.com/v1/charges")) == "rule.denied"
    assert _judge(policy, "GET", "https://api.stripe.com/v1/charges").allowed


def test_a_rule_that_asks_for_approval_refuses(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe", rules=[{"approve": {"tool": "str*"}}])
    decision = _judge(policy, "GET", "https://api.stripe.com/v1/charges")
    assert _code(decision) == "rule.approval"
    assert decision.hint == "a human can change rule rules.0"


def test_a_rule_with_a_condition_waits_for_the_parameters(tmp_path: Path) -> None:
    rules = [{"approve": {"tool": "stripe", "action": "create", "when": "amount > 1000"}}]
    policy = _policy(tmp_path, "stripe", rules=rules)
    assert _before(policy, _charge(b"amount=1000"))[-1].allow
    (verdict,) = _before(policy, _charge(b"amount=1001"))
    assert (verdict.code, verdict.rule) == ("rule.approval", "rules.0")
    assert not _before(policy, _charge(b"amount=1&amount=5000"))[-1].allow
    assert not _before(policy, _charge(b"amount=1", *_FORM, query="amount=5000"))[-1].allow


def test_a_condition_is_judged_where_no_schema_is(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "free", rules=[{"deny": {"when": "a must exist"}}])
    url = "https://free.example/v1/x"
    assert _before(policy, Request("GET", Target.parse(url), (), b"")) == ()
    (verdict,) = _before(policy, Request("GET", Target.parse(url + "?a=1"), (), b""))
    assert verdict.code == "rule.denied"


def test_a_call_that_nothing_more_judges_has_no_further_verdicts(tmp_path: Path) -> None:
    request = Request("GET", Target.parse("https://free.example/v1/x"))
    assert _before(_policy(tmp_path, "free"), request) == ()


def test_rule_files_hold_from_the_next_request(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    assert _judge(policy, "GET", "https://api.stripe.com/v1/x").allowed
    (tmp_path / "rules").mkdir()
    rules = tmp_path / "rules" / "a.yaml"
    rules.write_text("- deny: {host: api.stripe.com}\n")
    assert _code(_judge(policy, "GET", "https://api.stripe.com/v1/x")) == "rule.denied"
    rules.write_text("- broken")
    decision = _judge(policy, "GET", "https://api.stripe.com/v1/x")
    assert (_code(decision), decision.allowed) == ("hook.failed", False)
    assert len(policy.hash) == 64


# Bodies and replies


def test_a_schema_judges_what_was_sent(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    assert _before(policy, _charge(b"amount=5000"))[-1].allow
    (verdict,) = _before(policy, _charge(b"amount=5001"))
    assert verdict.reason == "$.amount: does not satisfy 'maximum'"
    assert verdict.rule == "tools.stripe.actions.create.request_schema"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (_charge(b"\xff"), 400),
        (_charge(b"{}", *_JSON), 415),
        (_charge(b"amount=1", *_FORM, (b"content-encoding", b"gzip")), 415),
        (_charge(None), 500),
    ],
)
def test_a_body_that_a_schema_cannot_read_is_refused(
    tmp_path: Path, request_: Request, status: int
) -> None:
    (verdict,) = _before(_policy(tmp_path, "stripe"), request_)
    assert (verdict.allow, verdict.status) == (False, status)


def test_bodies_are_needed_only_where_something_judges_them(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    create = _judge(policy, "POST", "https://api.stripe.com/v1/charges")
    assert (create.needs_body, create.needs_reply) == (True, True)
    plain = _judge(policy, "GET", "https://api.stripe.com/v1/x")
    assert (plain.needs_body, plain.needs_reply) == (False, False)
    for path in ("capped", "summed"):
        assert _judge(policy, "POST", f"https://api.stripe.com/v1/{path}").needs_body
    _hook(tmp_path, "stripe_list_pre.sh", "#!/bin/sh\n")
    assert _judge(policy, "GET", "https://api.stripe.com/v1/x").needs_body
    _hook(tmp_path, "_post.sh", "#!/bin/sh\n")
    assert _judge(policy, "GET", "https://api.stripe.com/v1/x").needs_reply


@pytest.mark.parametrize(
    "request_",
    [
        _charge(b"amount=1", *_FORM, (b"X-HTTP-Method-Override", b"DELETE")),
        _charge(b"amount=1", *_FORM, (b"x-method-override", b"put")),
        _charge(b"amount=1", *_FORM, (b"X-HTTP-Method", b"POST"), (b"x-http-method", b"PUT")),
        _charge(b"amount=1", *_FORM, (b"X_HTTP_Method_Override", b"DELETE")),
        _charge(b"amount=1", query="a=1&_method=DELETE"),
        _charge(b"amount=1", query="%5Fmethod=DELETE"),
        _charge(b"amount=1&_METHOD=delete"),
    ],
)
def test_a_request_may_not_ask_for_another_method(tmp_path: Path, request_: Request) -> None:
    (verdict,) = _before(_policy(tmp_path, "stripe"), request_)
    assert verdict.code == "request.method_override"


@pytest.mark.parametrize("name", [b"X-Original-URL", b"x-rewrite-url", b"X_Rewrite_URL"])
def test_a_request_may_not_ask_for_another_path(tmp_path: Path, name: bytes) -> None:
    request = _charge(b"amount=1", *_FORM, (name, b"/v1/admin"))
    (verdict,) = _before(_policy(tmp_path, "stripe"), request)
    assert verdict.code == "request.path_override"


def test_an_override_with_the_judged_method_changes_nothing(tmp_path: Path) -> None:
    request = _charge(b"amount=1", *_FORM, (b"X-HTTP-Method-Override", b"post"))
    assert all(each.allow for each in _before(_policy(tmp_path, "stripe"), request))


def test_a_limited_call_needs_somebody_who_counts(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    target = Target("https", "api.stripe.com", 443, "/v1/summed")
    request = Request("POST", target, _JSON, b'{"amount":3}')
    assert _before(policy, request)[-1].code == "limit.uncounted"
    assert _before(policy, request, spent=Spent()) == ()
    decision = policy.judge("POST", target)
    used = policy.cost(decision, request)
    assert used == Spent(1, 12, Decimal(3))
    assert _before(policy, request, spent=used)[-1].code == "limit.sum"


def test_the_cost_of_an_unlimited_call_is_itself(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "free", "stripe")
    for url in ("https://free.example/v1/x", "https://api.stripe.com/v1/x", "https://x.example/"):
        request = Request("GET", Target.parse(url), (), b"ab")
        assert policy.cost(policy.judge("GET", request.target), request) == Spent(1, 2)


def _after(policy: Policy, reply: Reply, **more: Any) -> tuple[Verdict, ...]:
    request = _charge(b"amount=1")
    decision = policy.judge(request.method, request.target)
    return asyncio.run(
        policy.after(decision, request, reply, session=_SESSION, action_id="act_1", **more)
    )


def test_a_reply_is_judged_by_its_schema(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    assert _after(policy, Reply(200, _JSON, b'{"id":1}'))[0].allow
    for body, headers in ((b"{}", _JSON), (b"<p>", ()), (b"{", _JSON)):
        (verdict,) = _after(policy, Reply(200, headers, body))
        assert (verdict.allow, verdict.status) == (False, 502)


def test_error_replies_have_a_shape_of_their_own(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    for status in (204, 402, 500):
        assert _after(policy, Reply(status, _JSON, b"{}")) == ()


def test_a_reply_that_streamed_by_is_flagged(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    _hook(tmp_path, "_post.sh", "#!/bin/sh\nexit 1\n")
    schema, hook = _after(policy, Reply(200, _JSON, None))
    assert (schema.verdict, schema.allow) == ("flag", True)
    assert (hook.verdict, hook.allow) == ("flag", True)


def test_a_stream_can_still_quarantine_the_session(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    _hook(tmp_path, "_post.sh", '#!/bin/sh\necho \'{"verdict":"quarantine"}\'\n')
    verdict = _after(policy, Reply(200, _JSON, None))[-1]
    assert (verdict.verdict, verdict.allow) == ("quarantine", False)


# Hooks


def test_every_hook_runs_until_one_denies(tmp_path: Path) -> None:
    _hook(tmp_path, "stripe_create_pre.sh", "#!/bin/sh\nexit 0\n")
    _hook(tmp_path, "stripe_pre.sh", "#!/bin/sh\nexit 1\n")
    _hook(tmp_path, "_pre.sh", "#!/bin/sh\ntouch ran\n")
    verdicts = _before(_policy(tmp_path, "stripe"), _charge(b"amount=1"))
    assert [each.rule for each in verdicts[1:]] == ["stripe_create_pre.sh", "stripe_pre.sh"]
    assert [each.allow for each in verdicts] == [True, True, False]
    assert not (tmp_path / "ran").exists()


def test_hooks_of_one_call_run_after_the_configured_ones(tmp_path: Path) -> None:
    hooks, own = tmp_path / "hooks", tmp_path / "own"
    hooks.mkdir(mode=0o700)
    own.mkdir(mode=0o700)
    _hook(hooks, "_pre.sh", "#!/bin/sh\n")
    path = _hook(own, "check.sh", "#!/bin/sh\nexit 1\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    policy = _policy(hooks, "stripe")
    verdicts = _before(policy, _charge(b"amount=1"), extra_hooks=[(path, digest)])
    assert [each.rule for each in verdicts[1:]] == ["_pre.sh", "check.sh"]
    path.write_text("#!/bin/sh\nexit 0\n")
    for extra in ((path, digest), (path, ""), (Path("check.sh"), digest)):
        changed = _before(policy, _charge(b"amount=1"), extra_hooks=[extra])
        assert changed[-1].code == "hook.unsafe"
    assert (
        _after(policy, Reply(402, (), b""), extra_hooks=[(path, digest)])[-1].code == "hook.unsafe"
    )


def test_a_refused_call_stays_refused(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "free")
    request = _charge(b"amount=1")
    (verdict,) = _before(policy, request)
    assert verdict.code == "scope.host"
    empty = Decision((), allowed=True, tool="a", action="b")
    (verdict,) = asyncio.run(policy.before(empty, request, _SESSION, "act_1"))
    assert verdict.code == "hook.failed"
    after = policy.after(empty, request, Reply(200), session=_SESSION, action_id="act_1")
    assert not asyncio.run(after)[0].allow


def test_a_gate_that_fails_refuses(tmp_path: Path) -> None:
    _hook(tmp_path, "_pre.sh", "#!/bin/sh\n")
    policy = _policy(tmp_path, "stripe")
    request = _charge(b"amount=1")
    decision = policy.judge("POST", request.target)
    broken: Any = object()
    verdicts = asyncio.run(policy.before(decision, request, broken, "act_1"))
    assert (verdicts[-1].allow, verdicts[-1].code) == (False, "hook.failed")
    assert verdicts[-1].status == 500


def test_a_decision_that_fails_refuses(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    broken: Any = 5
    decision = policy.judge(broken, Target("https", "api.stripe.com", 443))
    assert (decision.allowed, _code(decision)) == (False, "hook.failed")


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
        _policy(tmp_path, "stripe", **more)
    assert caught.value.exit_code == 3


def test_equal_policies_have_equal_hashes_and_different_ones_do_not(tmp_path: Path) -> None:
    base = _policy(tmp_path, "stripe", "free").hash
    assert base == _policy(tmp_path, "free,stripe").hash
    assert len(base) == 64
    others = {
        _policy(tmp_path, "stripe").hash,
        _policy(tmp_path, "stripe", "free", rules=[{"deny": {"host": "x.example"}}]).hash,
        _policy(tmp_path, "stripe", "free", tools={"stripe": _TOOLS["stripe"]}).hash,
        _policy(tmp_path, "stripe", "free", credentials={}).hash,
        _policy(tmp_path, "stripe", "free", proxy={"buffer_limit": "1MB"}).hash,
    }
    assert len(others) == 5
    assert base not in others


def test_the_hash_follows_hook_and_rule_files(tmp_path: Path) -> None:
    policy = _policy(tmp_path, "stripe")
    seen = [policy.hash]
    hook = _hook(tmp_path, "_pre.sh", "#!/bin/sh\n")
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


_PROPERTY_POLICY = Policy(_settings(Path("/nonexistent/hooks")), ["stripe", "free", "wide"])
