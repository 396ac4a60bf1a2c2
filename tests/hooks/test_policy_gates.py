"""The policy where bodies, replies and hooks are judged: what cannot be judged is refused."""

from __future__ import annotations

import asyncio
import hashlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ghost_hooks.account import Account
from ghost_hooks.decision import Decision
from ghost_hooks.limits import Spent
from ghost_hooks.override import asks_otherwise
from ghost_hooks.request import Reply, Request
from ghost_hooks.target import Target
from support.policies import (
    FORM,
    JSON,
    SESSION,
    after_reply,
    before,
    charge,
    code_of,
    judged,
    make_policy,
    write_hook,
)

PARTS = ((b"content-type", b"multipart/form-data; boundary=b"),)

# Bodies and replies


def test_a_schema_judges_what_was_sent(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    assert before(policy, charge(b"amount=5000"))[-1].allow
    (verdict,) = before(policy, charge(b"amount=5001"))
    assert verdict.reason == "$.amount: does not satisfy 'maximum' 5000"
    assert verdict.rule == "tools.stripe.actions.create.request_schema"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (charge(b"\xff"), 400),
        (charge(b"{}", *JSON), 415),
        (charge(b"amount=1", *FORM, (b"content-encoding", b"gzip")), 415),
        (charge(None), 500),
    ],
)
def test_a_body_that_a_schema_cannot_read_is_refused(
    tmp_path: Path, request_: Request, status: int
) -> None:
    (verdict,) = before(make_policy(tmp_path, "stripe"), request_)
    assert (verdict.allow, verdict.status) == (False, status)


def test_bodies_are_needed_only_where_something_judges_them(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    create = judged(policy, "POST", "https://api.stripe.com/v1/charges")
    assert (create.needs_body, create.needs_reply) == (True, True)
    plain = judged(policy, "GET", "https://api.stripe.com/v1/x")
    assert (plain.needs_body, plain.needs_reply) == (False, False)
    for path in ("capped", "summed"):
        assert judged(policy, "POST", f"https://api.stripe.com/v1/{path}").needs_body
    write_hook(tmp_path, "stripe_list_pre.sh", "#!/bin/sh\n")
    assert judged(policy, "GET", "https://api.stripe.com/v1/x").needs_body
    write_hook(tmp_path, "_post.sh", "#!/bin/sh\n")
    assert judged(policy, "GET", "https://api.stripe.com/v1/x").needs_reply


@pytest.mark.parametrize(
    "request_",
    [
        charge(b"amount=1", *FORM, (b"X-HTTP-Method-Override", b"DELETE")),
        charge(b"amount=1", *FORM, (b"x-method-override", b"put")),
        charge(b"amount=1", *FORM, (b"X-HTTP-Method", b"POST"), (b"x-http-method", b"PUT")),
        charge(b"amount=1", *FORM, (b"X_HTTP_Method_Override", b"DELETE")),
        charge(b"amount=1", query="a=1&_method=DELETE"),
        charge(b"amount=1", query="%5Fmethod=DELETE"),
        charge(b"amount=1&_METHOD=delete"),
        charge(b"_method=PUT", (b"content-type", b"application/json"), *FORM),
        charge(b'--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nPUT', *PARTS),
        charge(b"--b\r\nContent-Disposition: form-data;\r\n NAME = _Method\r\n\r\nPUT", *PARTS),
        charge(b"--b\r\ncontent-disposition: form-data; name*=utf-8''_method\r\n\r\n", *PARTS),
    ],
)
def test_a_request_may_not_ask_for_another_method(tmp_path: Path, request_: Request) -> None:
    (verdict,) = before(make_policy(tmp_path, "stripe"), request_)
    assert verdict.code == "request.method_override"


@pytest.mark.parametrize(
    "body",
    [
        b'name="payment_method"',
        b'name="method"',
        b"a _method of mine",
        b'name="x"\r\n\r\n_method',
        b'filename="my_methods"',
    ],
)
def test_parts_that_name_no_method_are_left_alone(body: bytes) -> None:
    request = charge(body, *PARTS)
    assert asks_otherwise(request) is None


@pytest.mark.parametrize("name", [b"X-Original-URL", b"x-rewrite-url", b"X_Rewrite_URL"])
def test_a_request_may_not_ask_for_another_path(tmp_path: Path, name: bytes) -> None:
    request = charge(b"amount=1", *FORM, (name, b"/v1/admin"))
    (verdict,) = before(make_policy(tmp_path, "stripe"), request)
    assert verdict.code == "request.path_override"


def test_an_override_with_the_judged_method_changes_nothing(tmp_path: Path) -> None:
    request = charge(b"amount=1", *FORM, (b"X-HTTP-Method-Override", b"post"))
    assert all(each.allow for each in before(make_policy(tmp_path, "stripe"), request))


def test_a_limited_call_needs_somebody_who_counts(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    target = Target("https", "api.stripe.com", 443, "/v1/summed")
    request = Request("POST", target, JSON, b'{"amount":3}')
    assert before(policy, request)[-1].code == "limit.uncounted"
    account = Account()
    assert before(policy, request, account=account) == ()
    assert account.used(("stripe", "summed")) == Spent(1, 12, Decimal(3))
    assert before(policy, request, account=account)[-1].code == "limit.sum"
    assert account.used(("stripe", "summed")).calls == 1


def test_a_large_body_is_judged_and_counted_like_a_small_one(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    request = charge(b"amount=1&note=" + b"x" * 100_000)
    assert before(policy, request)[-1].allow
    target = Target("https", "api.stripe.com", 443, "/v1/capped")
    capped = Request("POST", target, JSON, b"x" * 100_000)
    assert before(policy, capped, account=Account())[-1].code == "limit.bytes"


def test_a_reply_is_judged_by_its_schema(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    assert after_reply(policy, Reply(200, JSON, b'{"id":1}'))[0].allow
    for body, headers in ((b"{}", JSON), (b"<p>", ()), (b"{", JSON)):
        (verdict,) = after_reply(policy, Reply(200, headers, body))
        assert (verdict.allow, verdict.status) == (False, 502)


def test_error_replies_have_a_shape_of_their_own(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    for status in (204, 402, 500):
        assert after_reply(policy, Reply(status, JSON, b"{}")) == ()


def test_a_reply_that_streamed_by_is_flagged(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    write_hook(tmp_path, "_post.sh", "#!/bin/sh\nexit 1\n")
    schema, hook = after_reply(policy, Reply(200, JSON, None))
    assert (schema.verdict, schema.allow) == ("flag", True)
    assert (hook.verdict, hook.allow) == ("flag", True)


def test_a_stream_can_still_quarantine_the_session(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    write_hook(tmp_path, "_post.sh", '#!/bin/sh\necho \'{"verdict":"quarantine"}\'\n')
    verdict = after_reply(policy, Reply(200, JSON, None))[-1]
    assert (verdict.verdict, verdict.allow) == ("quarantine", False)


# Hooks


def test_every_hook_runs_until_one_denies(tmp_path: Path) -> None:
    write_hook(tmp_path, "stripe_create_pre.sh", "#!/bin/sh\nexit 0\n")
    write_hook(tmp_path, "stripe_pre.sh", "#!/bin/sh\nexit 1\n")
    write_hook(tmp_path, "_pre.sh", "#!/bin/sh\ntouch ran\n")
    verdicts = before(make_policy(tmp_path, "stripe"), charge(b"amount=1"))
    assert [each.rule for each in verdicts[1:]] == ["stripe_create_pre.sh", "stripe_pre.sh"]
    assert [each.allow for each in verdicts] == [True, True, False]
    assert not (tmp_path / "ran").exists()


def test_hooks_of_one_call_run_after_the_configured_ones(tmp_path: Path) -> None:
    hooks, own = tmp_path / "hooks", tmp_path / "own"
    hooks.mkdir(mode=0o700)
    own.mkdir(mode=0o700)
    write_hook(hooks, "_pre.sh", "#!/bin/sh\n")
    path = write_hook(own, "check.sh", "#!/bin/sh\nexit 1\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    policy = make_policy(hooks, "stripe")
    verdicts = before(policy, charge(b"amount=1"), extra_hooks=[(path, digest)])
    assert [each.rule for each in verdicts[1:]] == ["_pre.sh", "check.sh"]
    path.write_text("#!/bin/sh\nexit 0\n")
    for extra in ((path, digest), (path, ""), (Path("check.sh"), digest)):
        changed = before(policy, charge(b"amount=1"), extra_hooks=[extra])
        assert changed[-1].code == "hook.unsafe"
    assert (
        after_reply(policy, Reply(402, (), b""), extra_hooks=[(path, digest)])[-1].code
        == "hook.unsafe"
    )


def test_a_refused_call_stays_refused(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "free")
    request = charge(b"amount=1")
    (verdict,) = before(policy, request)
    assert verdict.code == "scope.host"
    empty = Decision((), allowed=True, tool="a", action="b")
    (verdict,) = asyncio.run(policy.before(empty, request, SESSION, "act_1"))
    assert verdict.code == "hook.failed"
    after = policy.after(empty, request, Reply(200), session=SESSION, action_id="act_1")
    assert not asyncio.run(after)[0].allow


def test_a_gate_that_fails_refuses(tmp_path: Path) -> None:
    write_hook(tmp_path, "_pre.sh", "#!/bin/sh\n")
    policy = make_policy(tmp_path, "stripe")
    request = charge(b"amount=1")
    decision = policy.judge("POST", request.target)
    broken: Any = object()
    verdicts = asyncio.run(policy.before(decision, request, broken, "act_1"))
    assert (verdicts[-1].allow, verdicts[-1].code) == (False, "hook.failed")
    assert verdicts[-1].status == 500


def test_a_decision_that_fails_refuses(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "stripe")
    broken: Any = 5
    decision = policy.judge(broken, Target("https", "api.stripe.com", 443))
    assert (decision.allowed, code_of(decision)) == (False, "hook.failed")


def test_a_form_that_takes_long_to_read_holds_up_nobody_else(tmp_path: Path) -> None:
    policy = make_policy(tmp_path, "free")
    target = Target("https", "free.example", 443, "/v1/x", "")
    request = Request("POST", target, FORM, b"a=%41&" * 20_000)
    decision = policy.judge("POST", target)

    async def other_work() -> bool:
        judging = asyncio.ensure_future(policy.before(decision, request, SESSION, "act_1"))
        await asyncio.sleep(0)
        waiting = not judging.done()
        await judging
        return waiting

    assert asyncio.run(other_work())
