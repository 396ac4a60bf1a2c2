from __future__ import annotations

from ghost_templates import action, text
from support import views


def _row(**more: object) -> action.Row:
    return action.row(views.action(2, **more), offset="+1.000 s", anchor="s0-2")


def test_an_error_answer_is_executed_with_a_warning() -> None:
    row = _row(http_status=402)
    assert (row.word, row.mark) == ("executed", text.WARN)


def test_a_raw_call_is_named_by_its_host() -> None:
    row = _row(tool="api.example.com", action="GET", host="api.example.com", method="GET")
    assert (row.title, row.call) == ("GET api.example.com", "raw call")


def test_a_refusal_says_why_at_a_glance() -> None:
    refused = views.denied(2)
    row = action.row(refused, offset="", anchor="a")
    assert (row.title, row.call) == ("GET metadata.internal", "no scope names metadata.internal")
    refused["denial"]["message"] = "x" * 300
    assert len(action.summary(refused)) == 120


def test_an_unusual_port_is_shown() -> None:
    assert _row(port=8443).call == "POST api.stripe.com:8443"


def test_answer_and_duration_are_told_in_short() -> None:
    assert _row().took == "HTTP 200 · 412 ms"


def test_masked_secrets_and_cut_replies_are_noticed() -> None:
    notices = [notice.text for notice in _row(scrubbed=1, ended="aborted").notices]
    assert notices == [
        "The reply was cut before its end.",
        "The reply held a known secret; it was masked.",
    ]


def test_a_request_that_was_not_forwarded_stands_alone() -> None:
    row = action.row(views.denied(2), offset="", anchor="a")
    assert row.diff is not None
    assert row.diff.right == "Not forwarded"
    assert {line.right.kind for line in row.diff.lines} == {"blank"}


def test_the_chain_tells_who_decided_and_how() -> None:
    chain = [(step.by, step.word, step.rule) for step in _row().chain]
    assert chain[0] == ("scope", "allowed", "stripe_create_charge")
    assert chain[-1] == ("hook", "allowed", "stripe_create_charge_pre.sh")


def test_disclosed_salts_stand_with_the_proof() -> None:
    row = _row(disclosures=[{"field": "params", "salt": "ab" * 32}])
    assert row.proof[-1] == ("Salt of params", "ab" * 32)
