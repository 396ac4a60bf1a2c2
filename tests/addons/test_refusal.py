"""What an agent reads when it is refused."""

from __future__ import annotations

import json

import pytest

from ghost_addons.refusal import Refusal, refusal_of, unauthenticated
from ghost_core.errors import (
    ConfigError,
    DeniedError,
    FailedError,
    GhostError,
    IntegrityError,
    LimitError,
    UnavailableError,
)
from ghost_hooks.request import Verdict


@pytest.mark.parametrize(
    ("error", "status", "stage"),
    [
        (DeniedError("x", code="scope.host"), 403, "scope"),
        (DeniedError("x", code="target.host"), 400, "authority"),
        (DeniedError("x", code="target.mismatch"), 421, "authority"),
        (DeniedError("x", code="target.address"), 403, "address"),
        (DeniedError("x", code="target.unresolved"), 502, "address"),
        (DeniedError("x", code="body.too_large"), 413, "limit"),
        (DeniedError("x", code="params.encoding"), 415, "schema"),
        (FailedError("x", code="body.coding"), 502, "limit"),
        (LimitError("x", code="body.expands"), 502, "limit"),
        (UnavailableError("x", code="database.locked"), 503, "ledger"),
        (UnavailableError("x", code="ledger.unwritable"), 503, "ledger"),
        (ConfigError("x", code="config.key"), 500, "guard"),
        (IntegrityError("x", code="ledger.grammar"), 500, "ledger"),
    ],
)
def test_each_failure_has_its_status_and_its_stage(
    error: GhostError, status: int, stage: str
) -> None:
    refusal = refusal_of(error)
    assert (refusal.status, refusal.stage, refusal.code) == (status, stage, error.code)


def test_what_failed_inside_is_not_told_outside() -> None:
    refusal = refusal_of(ConfigError("/home/somebody/secret.pem: broken", code="config.key"))
    assert b"somebody" not in refusal.body()
    told = refusal_of(DeniedError("host x: not in scope", code="scope.host", hint="ask"))
    assert (told.message, told.hint) == ("host x: not in scope", "ask")


def test_a_denying_verdict_keeps_its_status_and_names_its_gate() -> None:
    refusal = refusal_of(Verdict.no("hook", "pre.sh", "too much", code="hook.denied", status=429))
    assert (refusal.status, refusal.rule, refusal.stage) == (429, "hook:pre.sh", "hook")
    assert refusal.message == "too much"


def test_the_body_is_one_json_object_on_one_line() -> None:
    body = Refusal(403, "scope.host", "nö", "scope", "r").body(session_id="gh_1", action_id="act_1")
    assert body.endswith(b"\n")
    assert json.loads(body)["error"] == {
        "code": "scope.host",
        "message": "nö",
        "rule": "r",
        "session_id": "gh_1",
        "action_id": "act_1",
        "hint": "",
    }


def test_only_a_refusal_of_the_session_challenges_and_closes() -> None:
    names = [name for name, _ in unauthenticated("who?").headers()]
    assert names == [b"content-type", b"x-ghost-reason", b"proxy-authenticate", b"connection"]
    plain = Refusal(403, "scope.host", "no", "scope").headers()
    assert plain == [(b"content-type", b"application/json"), (b"x-ghost-reason", b"scope.host")]
