"""The view of a session over a real ledger: the seed's document."""

from __future__ import annotations

import json
from pathlib import Path

from ghost_core import ids
from ghost_core.paths import Home
from ghost_ledger.export.replay import session_view, view_exit_code
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Draft, Recorder
from support.ledger import (
    CLOSED,
    denied,
    edit,
    intent,
    outcome,
    payload_of,
    sealed,
    spawned,
)

SEED = (
    "session_id", "intent", "spawned_at", "evaporated_at", "actions", "root_signature", "verified",
)  # fmt: skip
SEED_ACTION = (
    "action_id", "tool", "action", "timestamp", "params_hash", "response_hash", "signature",
)  # fmt: skip


def test_the_fields_of_the_seed_come_first(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    view = session_view(ledger, Home(tmp_path), sealed(recorder))
    assert tuple(view)[1 : len(SEED) + 1] == SEED
    assert tuple(view["actions"][0])[: len(SEED_ACTION)] == SEED_ACTION
    assert view["schema"] == "ghost/replay/v1"
    json.dumps(view)


def test_a_sealed_session_is_verified(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    view = session_view(ledger, Home(tmp_path), sealed(recorder))
    states = {name: axis["state"] for name, axis in view["verdict"]["axes"].items()}
    assert view["verified"] is True, view["verdict"]
    assert view_exit_code(view) == 0
    assert view["intent"] == "deploy"
    assert view["status"] == "sealed"
    assert view["scopes"] == ["stripe"]
    assert {states[name] for name in ("head", "columns", "inclusion", "disclosure")} == {"valid"}


def test_values_have_the_prefixes_of_the_contract(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    view = session_view(ledger, Home(tmp_path), sealed(recorder))
    action = view["actions"][0]
    for name in ("params_hash", "response_hash", "entry_hash", "intent_hash"):
        assert action[name].startswith("sha256_")
        assert len(action[name]) == 7 + 64
    for name in ("signature", "intent_signature"):
        assert action[name].startswith("ed25519_sig_")
        assert len(action[name]) == 12 + 128
    assert len(view["root_signature"].removeprefix("ed25519_root_sig_")) == 128
    assert view["root_hash"].startswith("sha256_root_")
    assert len(view["ephemeral_key"].removeprefix("ed25519_public_")) == 64


def test_actions_are_counted_by_their_end(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    view = session_view(ledger, Home(tmp_path), sealed(recorder))
    assert [action["status"] for action in view["actions"]] == ["executed", "denied"]
    assert view["actions_executed"] == 1
    assert view["counts"] == {"executed": 1, "denied": 1, "failed": 0, "unknown": 0}
    assert view["actions"][1]["denial"]["stage"] == "scope"


def test_an_open_session_is_shown_and_incomplete(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    owned.act()
    view = session_view(ledger, Home(tmp_path), owned.sid)
    assert (view["status"], view["verified"], view_exit_code(view)) == ("open", False, 8)
    assert view["evaporated_at"] is None
    assert view["root_signature"] is None
    assert len(view["actions"]) == 1


def test_a_call_without_outcome_is_unknown(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    recorder.append(intent(owned.sid))
    view = session_view(ledger, Home(tmp_path), owned.sid)
    assert view["actions"][0]["status"] == "unknown"
    assert view["verdict"]["axes"]["intents"]["state"] == "incomplete"


def test_an_abandoned_session_is_incomplete_and_says_why(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    recorder.append(intent(owned.sid))
    recorder.detach(owned.sid)
    recorder.recover(lambda sid: sid == owned.sid)
    view = session_view(ledger, Home(tmp_path), owned.sid)
    assert (view["status"], view_exit_code(view)) == ("abandoned", 8)
    assert view["reason"]
    assert view["actions"][0]["error"]


def test_a_refusal_after_the_intent_is_one_action(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    action = ids.action_id()
    recorder.append(intent(owned.sid, action))
    refusal = denied(owned.sid)
    recorder.append(Draft(owned.sid, refusal.type, action, refusal.fields))
    (found,) = session_view(ledger, Home(tmp_path), owned.sid)["actions"]
    assert (found["status"], found["denial"]["stage"]) == ("denied", "scope")
    assert found["intent_signature"] is not None


def test_the_intent_is_not_taken_from_the_column(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = sealed(recorder)
    edit(tmp_path, "UPDATE sessions SET intent = 'harmless'")
    assert session_view(ledger, Home(tmp_path), sid)["intent"] == "deploy"


def test_payloads_are_left_out_unless_disclosed(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = sealed(recorder)
    assert '{"amount":5000}' not in json.dumps(session_view(ledger, Home(tmp_path), sid)).replace(
        "\\", ""
    )
    view = session_view(ledger, Home(tmp_path), sid, disclose=True)
    fields = {item["field"]: item for item in view["actions"][0]["disclosures"]}
    assert fields["params"]["data"] == '{"amount":5000}'
    assert len(fields["params"]["salt"]) == 64
    assert view["disclosures"][0]["data"] == "deploy"


def test_a_page_gets_messages(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    owned = spawned(recorder)
    draft = intent(owned.sid, data=b"POST /v1 HTTP/1.1\r\nHost: a\r\n\r\n" + b"x" * 10_000)
    recorder.append(draft)
    (action,) = session_view(ledger, Home(tmp_path), owned.sid, parts="excerpt")["actions"]
    assert action["request"]["start"] == "POST /v1 HTTP/1.1"
    assert action["request"]["cut"] is True
    assert len(action["request"]["body"]) == 4096
    assert action["forwarded"]["state"] == "absent"
    (whole,) = session_view(ledger, Home(tmp_path), owned.sid, parts="full")["actions"]
    assert len(whole["request"]["body"]) == 10_000


def test_erased_payloads_leave_a_session_verified(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    asked, _ = owned.act()
    erased = {
        "entry": asked.leaf_hash.hex(), "fields": ["params"], "basis": "request", "actor": "me",
    }  # fmt: skip
    recorder.append(Draft(owned.sid, "payload.erased", ids.entry_id(), erased))
    recorder.seal(owned.sid, CLOSED)
    edit(tmp_path, "DELETE FROM payloads WHERE field = 'params'")
    view = session_view(ledger, Home(tmp_path), owned.sid, parts="excerpt")
    assert view["actions"][0]["request"]["state"] == "erased"
    assert view["verified"] is True, view["verdict"]


def test_two_sessions_can_be_compared(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    first, second = sealed(recorder), sealed(recorder)
    comparison = session_view(ledger, Home(tmp_path), second, against=first)["comparison"]
    assert comparison["session_id"] == first
    assert comparison["same"] is True


def test_an_outcome_belongs_to_the_intent_that_it_names(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    one, two = ids.action_id(), ids.action_id()
    (asked_one,) = recorder.append(intent(owned.sid, one))
    (asked_two,) = recorder.append(intent(owned.sid, two))
    recorder.append(outcome(owned.sid, two, asked_two, data=b"second"))
    recorder.append(outcome(owned.sid, one, asked_one, data=b"first"))
    actions = session_view(ledger, Home(tmp_path), owned.sid, disclose=True)["actions"]
    answers = [
        item["data"]
        for action in actions
        for item in action["disclosures"]
        if item["field"] == "response"
    ]
    assert [action["action_id"] for action in actions] == [one, two]
    assert answers == ["first", "second"]


def test_a_truncated_payload_is_said_to_be_one(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    draft = intent(owned.sid, data=b"POST / HTTP/1.1\r\n\r\n" + b"y" * 100)
    whole = payload_of("params", b"POST / HTTP/1.1\r\n\r\n" + b"y" * 100)
    fields = {**draft.fields, "params": whole.commitment}
    part = type(whole)(
        "params", whole.salt, whole.commitment, b"POST / HTTP/1.1\r\n\r\nyy", 119, truncated=True
    )
    recorder.append(Draft(owned.sid, draft.type, draft.id, fields, (part,)))
    (action,) = session_view(ledger, Home(tmp_path), owned.sid, parts="excerpt")["actions"]
    assert (action["request"]["state"], action["request"]["size"]) == ("truncated", 119)
