"""From a call to the drafts of its entries."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from ghost_addons import record
from ghost_addons.action import Action
from ghost_addons.record import Attempt, Keeping
from ghost_addons.refusal import Refusal
from ghost_addons.ticket import Ticket
from ghost_core.secret import SecretBytes
from ghost_credentials.head import Head
from ghost_credentials.scrub import Scrubber
from ghost_hooks.limits import Spent
from ghost_hooks.request import Verdict
from ghost_ledger.commitment import Commitment, check
from ghost_ledger.recorder import Draft

FULL = Keeping("full", 1000)
REFUSAL = Refusal(403, "rule.denied", "no", "rule", "settings:1")
HEAD, BODY = b"POST /x HTTP/1.1\r\n\r\n", b'{"a":1}'


def intent(action: Action, keeping: Keeping = FULL, *, body: bytes = BODY) -> Draft:
    return record.intent(
        action, agent_head=HEAD, forwarded_head=b"forwarded", body=body, keeping=keeping
    )


def test_an_intent_commits_to_what_the_agent_sent_and_to_what_goes_on(
    action_of: Callable[..., Action],
) -> None:
    draft = intent(action_of(credential="demo", body_mode="buffered"))
    assert (draft.type, draft.fields["size"], draft.fields["credential"]) == (
        "action.intent",
        len(BODY),
        "demo",
    )
    params, forwarded = draft.payloads
    assert (params.data, forwarded.data) == (HEAD + BODY, b"forwarded")
    assert check("params", params.salt, HEAD + BODY, str(draft.fields["params"]))
    assert check("forwarded", forwarded.salt, b"forwarded", str(draft.fields["forwarded"]))


def test_a_streamed_intent_has_no_size_and_an_uncredentialed_one_no_credential(
    action_of: Callable[..., Action],
) -> None:
    fields = intent(action_of(body_mode="streamed"), body=b"").fields
    assert {"size", "credential", "operation", "attempt"} & fields.keys() == set()


@pytest.mark.parametrize(
    ("spent", "counted"),
    [
        (None, None),
        (Spent(1, 3), {"bytes": 3}),
        (Spent(1, 3, Decimal("1E+3")), {"bytes": 3, "sum": "1000"}),
    ],
)
def test_an_intent_tells_what_a_limit_counted(
    spent: Spent | None, counted: object, action_of: Callable[..., Action]
) -> None:
    draft = record.intent(
        action_of(), agent_head=HEAD, forwarded_head=b"", body=BODY, keeping=FULL, spent=spent
    )
    assert draft.fields.get("counted") == counted


@pytest.mark.parametrize(("operation", "named"), [("act_1", True), ("", False)])
def test_tries_of_one_operation_are_numbered(
    operation: str, named: bool, action_of: Callable[..., Action]
) -> None:
    ticket = Ticket("demo", "write", operation=operation, attempt=2)
    fields = intent(action_of(ticket=ticket)).fields
    assert (fields.get("operation"), fields.get("attempt")) == (
        (operation, 2) if named else (None, None)
    )


@pytest.mark.parametrize(
    ("keeping", "stored"),
    [
        (Keeping("full", 1000), HEAD + BODY),
        (Keeping("full", 10), (HEAD + BODY)[:10]),
        (Keeping("headers", 1000), HEAD),
    ],
)
def test_so_much_is_stored_beside_the_commitment(
    keeping: Keeping, stored: bytes, action_of: Callable[..., Action]
) -> None:
    params = intent(action_of(), keeping).payloads[0]
    assert params.data == stored
    assert params.size == len(HEAD + BODY)
    assert params.truncated is (stored != HEAD + BODY)


def test_where_nothing_is_kept_the_commitments_stand_alone(
    action_of: Callable[..., Action],
) -> None:
    nothing = Keeping("none", 0)
    draft = intent(action_of(), nothing)
    assert draft.payloads == ()
    assert len(str(draft.fields["params"])) == 64
    action = action_of(response=Commitment("response"))
    done = record.outcome(action, status="executed", ended="complete", keeping=nothing)
    assert done.payloads == ()
    assert len(str(done.fields["response"])) == 64
    refused = record.denied(Attempt("gh_1", "GET", "h", agent_head=HEAD), REFUSAL, nothing)
    assert refused.payloads == ()
    assert len(str(refused.fields["params"])) == 64


def test_an_outcome_names_only_what_happened(action_of: Callable[..., Action]) -> None:
    draft = record.outcome(action_of(), status="failed", ended="aborted", keeping=FULL)
    assert set(draft.fields) == {
        "intent",
        "status",
        "sent",
        "received",
        "latency_us",
        "ended",
        "scrubbed",
        "verdicts",
    }
    assert draft.payloads == ()


def test_an_outcome_tells_of_reply_upload_and_frames(action_of: Callable[..., Action]) -> None:
    action = action_of(
        response=Commitment("response"),
        request_body=Commitment("request_body"),
        response_head=b"HTTP/1.1 200\r\n\r\n",
        response_excerpt=bytearray(b"ab"),
        received=5,
        http_status=200,
        peer="127.0.0.1:1",
        websocket=True,
        frames_in=2,
        frames_out=3,
        flags=["flagged"],
    )
    deny = Verdict.no("hook", "post.sh", "odd\nreason", code="hook.denied")
    draft = record.outcome(
        action, status="executed", ended="complete", keeping=FULL, post=(deny,), error="x.y"
    )
    found = {name: draft.fields[name] for name in ("frames_in", "frames_out", "flags", "error")}
    assert found == {"frames_in": 2, "frames_out": 3, "flags": ["flagged"], "error": "x.y"}
    assert draft.fields["verdicts"][0]["reason"] == "odd reason"  # type: ignore[index,call-overload]
    (kept,) = draft.payloads
    assert (kept.data, kept.size, kept.truncated) == (b"HTTP/1.1 200\r\n\r\nab", 21, True)


def test_a_denial_without_a_judged_target_still_names_something() -> None:
    draft = record.denied(Attempt("gh_1", "", ""), REFUSAL, FULL)
    assert [draft.fields[name] for name in ("tool", "action", "method", "host")] == ["unknown"] * 4
    assert {"port", "policy", "count", "params"} & draft.fields.keys() == set()
    assert draft.id.startswith("act_")


def test_a_denial_keeps_the_head_and_the_number_of_equal_ones() -> None:
    attempt = Attempt(
        "gh_1", "GET", "h", port=443, policy="p", agent_head=HEAD, body=BODY, id="act_7"
    )
    draft = record.denied(attempt, REFUSAL, FULL, count=4)
    assert (draft.fields["port"], draft.fields["policy"], draft.fields["count"]) == (443, "p", 4)
    assert draft.id == "act_7"
    assert draft.payloads[0].data == HEAD + BODY


def test_a_secret_in_a_head_is_written_as_a_mark() -> None:
    scrubber = Scrubber((SecretBytes(b"sk_live_4242"),))
    head = Head("GET", "/x?k=sk_live_4242", ((b"a", b"sk_live_4242"),))
    text = record.head_text(head, scrubber)
    assert text == (b"GET /x?k=[redacted by ghost] HTTP/1.1\r\na: [redacted by ghost]\r\n\r\n")
