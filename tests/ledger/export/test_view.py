"""The view of a session over a real ledger: the seed's document, and its verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghost_core import db, ids
from ghost_core.errors import IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger.canonical import Value
from ghost_ledger.export.replay import all_view, session_view, view_exit_code
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Draft, Recorder
from support.ledger import (
    CLOSED,
    denied,
    intent,
    open_recorder,
    outcome,
    payload_of,
    raw,
    spawned,
    url_of,
)

SEED = (
    "session_id", "intent", "spawned_at", "evaporated_at", "actions", "root_signature", "verified",
)  # fmt: skip
SEED_ACTION = (
    "action_id", "tool", "action", "timestamp", "params_hash", "response_hash", "signature",
)  # fmt: skip


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with open_recorder(tmp_path) as opened:
        yield opened


@pytest.fixture
def ledger(tmp_path: Path, recorder: Recorder) -> Iterator[Ledger]:
    del recorder  # it made the database
    engine = db.engine(url_of(tmp_path))
    yield Ledger(engine, Home(tmp_path))
    engine.dispose()


def _view(ledger: Ledger, folder: Path, sid: str, **more: Any) -> dict[str, Any]:
    return session_view(ledger, Home(folder), sid, **more)


def _sealed(recorder: Recorder) -> str:
    owned = spawned(recorder, scopes=("stripe",))
    owned.act()
    recorder.append(denied(owned.sid))
    recorder.seal(owned.sid, CLOSED)
    return owned.sid


def _edit(folder: Path, statement: str, *values: Any) -> None:
    """Change the database as its owner could, past every guard."""
    with raw(folder) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement, values)


def test_the_fields_of_the_seed_come_first(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    view = _view(ledger, tmp_path, _sealed(recorder))
    assert tuple(view)[1 : len(SEED) + 1] == SEED
    assert tuple(view["actions"][0])[: len(SEED_ACTION)] == SEED_ACTION
    assert view["schema"] == "ghost/replay/v1"
    json.dumps(view)


def test_a_sealed_session_is_verified(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    view = _view(ledger, tmp_path, _sealed(recorder))
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
    view = _view(ledger, tmp_path, _sealed(recorder))
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
    view = _view(ledger, tmp_path, _sealed(recorder))
    assert [action["status"] for action in view["actions"]] == ["executed", "denied"]
    assert view["actions_executed"] == 1
    assert view["counts"] == {"executed": 1, "denied": 1, "failed": 0, "unknown": 0}
    assert view["actions"][1]["denial"]["stage"] == "scope"


def test_an_open_session_is_shown_and_incomplete(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    owned.act()
    view = _view(ledger, tmp_path, owned.sid)
    assert (view["status"], view["verified"], view_exit_code(view)) == ("open", False, 8)
    assert view["evaporated_at"] is None
    assert view["root_signature"] is None
    assert len(view["actions"]) == 1


def test_a_call_without_outcome_is_unknown(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    recorder.append(intent(owned.sid))
    view = _view(ledger, tmp_path, owned.sid)
    assert view["actions"][0]["status"] == "unknown"
    assert view["verdict"]["axes"]["intents"]["state"] == "incomplete"


def test_an_abandoned_session_is_incomplete_and_says_why(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    recorder.append(intent(owned.sid))
    recorder.detach(owned.sid)
    recorder.recover(lambda sid: sid == owned.sid)
    view = _view(ledger, tmp_path, owned.sid)
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
    (found,) = _view(ledger, tmp_path, owned.sid)["actions"]
    assert (found["status"], found["denial"]["stage"]) == ("denied", "scope")
    assert found["intent_signature"] is not None


def test_an_edited_column_is_broken(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    sid = _sealed(recorder)
    _edit(tmp_path, "UPDATE actions SET http_status = 500 WHERE status = 'executed'")
    view = _view(ledger, tmp_path, sid)
    assert view_exit_code(view) == 7
    assert view["verdict"]["axes"]["columns"]["state"] == "invalid"
    assert (view["columns"][0]["stored"], view["columns"][0]["signed"]) == ("500", "200")
    assert view["actions"][0]["http_status"] == 200


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET intent = 'harmless'",
        "UPDATE sessions SET root_signature = '00'",
        "UPDATE sessions SET spawned_at = 'yesterday'",
        "UPDATE actions SET host = 'x.example'",
        "DELETE FROM actions",
        "UPDATE credentials_log SET reason = 'rotate'",
        "UPDATE entries SET type = 'run.event' WHERE type = 'action.denied'",
    ],
)
def test_any_edited_column_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger, statement: str
) -> None:
    sid = _sealed(recorder)
    _edit(tmp_path, statement)
    view = _view(ledger, tmp_path, sid)
    assert view["verdict"]["axes"]["columns"]["state"] == "invalid"
    assert view_exit_code(view) == 7


def test_the_intent_is_not_taken_from_the_column(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = _sealed(recorder)
    _edit(tmp_path, "UPDATE sessions SET intent = 'harmless'")
    assert _view(ledger, tmp_path, sid)["intent"] == "deploy"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), 'evil.example', 'good.example') AS BLOB)",
        "UPDATE entries SET sig = zeroblob(64) WHERE seq = 1",
        "DELETE FROM entries WHERE seq = 3",
        "DELETE FROM entries WHERE type = 'session.seal'",
        "UPDATE entries SET body = x'00' WHERE seq = 1",
        "UPDATE entries SET body = x'00' WHERE seq = 0",
    ],
)
def test_edited_entries_are_broken_and_still_shown(
    tmp_path: Path, recorder: Recorder, ledger: Ledger, statement: str
) -> None:
    sid = _sealed(recorder)
    _edit(tmp_path, statement)
    view = _view(ledger, tmp_path, sid)
    assert view["session_id"] == sid
    assert (view["verified"], view_exit_code(view)) == (False, 7)


def test_a_log_behind_its_remembered_head_is_broken(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sid = _sealed(recorder)
    backup = (tmp_path / "ghost.db").read_bytes()
    with open_recorder(tmp_path) as recorder:
        spawned(recorder)
    (tmp_path / "ghost.db").write_bytes(backup)
    engine = db.engine(url_of(tmp_path))
    view = _view(Ledger(engine, Home(tmp_path)), tmp_path, sid)
    engine.dispose()
    assert view["verdict"]["axes"]["head"]["state"] == "invalid"
    assert view_exit_code(view) == 7


@pytest.mark.parametrize("column", ["body", "sig", "leaf_hash"])
def test_a_column_of_another_type_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger, column: str
) -> None:
    sid = _sealed(recorder)
    _edit(tmp_path, f"UPDATE entries SET {column} = 'text' WHERE seq = 1 AND sid = ?", sid)
    with pytest.raises(IntegrityError) as caught:
        _view(ledger, tmp_path, sid)
    assert caught.value.code == "ledger.entries"


def test_a_log_without_remembered_head_is_incomplete(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = _sealed(recorder)
    recorder.close()
    for path in (tmp_path / "heads").glob("*.head"):
        path.unlink()
    view = _view(ledger, tmp_path, sid)
    assert view["verdict"]["axes"]["head"]["state"] == "incomplete"
    assert view_exit_code(view) == 8


def test_another_log_in_the_same_database_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = _sealed(recorder)
    recorder.close()
    (path,) = (tmp_path / "heads").glob("*.head")
    path.rename(path.with_name("0" * 64 + ".head"))
    view = _view(ledger, tmp_path, sid)
    assert view["verdict"]["axes"]["head"]["state"] == "invalid"


def test_without_the_log_key_the_log_proves_nothing(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = _sealed(recorder)
    (tmp_path / "keys" / "log_key").unlink()
    view = _view(ledger, tmp_path, sid)
    assert view_exit_code(view) == 8
    assert view["verify"]["key"] is None


def test_a_given_key_pins_the_session(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    owned = spawned(recorder)
    recorder.seal(owned.sid, CLOSED)
    view = _view(ledger, tmp_path, owned.sid, key=owned.vkey)
    assert view["verified"] is True
    assert view["verify"]["source"] == "the key given with --key"
    other = spawned(recorder)
    assert view_exit_code(_view(ledger, tmp_path, owned.sid, key=other.vkey)) == 7


def test_payloads_are_left_out_unless_disclosed(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = _sealed(recorder)
    assert '{"amount":5000}' not in json.dumps(_view(ledger, tmp_path, sid)).replace("\\", "")
    view = _view(ledger, tmp_path, sid, disclose=True)
    fields = {item["field"]: item for item in view["actions"][0]["disclosures"]}
    assert fields["params"]["data"] == '{"amount":5000}'
    assert len(fields["params"]["salt"]) == 64
    assert view["disclosures"][0]["data"] == "deploy"


def test_a_page_gets_messages(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    owned = spawned(recorder)
    draft = intent(owned.sid, data=b"POST /v1 HTTP/1.1\r\nHost: a\r\n\r\n" + b"x" * 10_000)
    recorder.append(draft)
    (action,) = _view(ledger, tmp_path, owned.sid, parts="excerpt")["actions"]
    assert action["request"]["start"] == "POST /v1 HTTP/1.1"
    assert action["request"]["cut"] is True
    assert len(action["request"]["body"]) == 4096
    assert action["forwarded"]["state"] == "absent"
    (whole,) = _view(ledger, tmp_path, owned.sid, parts="full")["actions"]
    assert len(whole["request"]["body"]) == 10_000


def test_a_changed_payload_is_broken(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    sid = _sealed(recorder)
    _edit(tmp_path, "UPDATE payloads SET data = zeroblob(60) WHERE field = 'params'")
    view = _view(ledger, tmp_path, sid)
    assert view["verdict"]["axes"]["disclosure"]["state"] == "invalid"
    assert view_exit_code(view) == 7


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
    _edit(tmp_path, "DELETE FROM payloads WHERE field = 'params'")
    view = _view(ledger, tmp_path, owned.sid, parts="excerpt")
    assert view["actions"][0]["request"]["state"] == "erased"
    assert view["verified"] is True, view["verdict"]


def test_an_unknown_session_is_not_found(tmp_path: Path, ledger: Ledger) -> None:
    with pytest.raises(NotFoundError) as caught:
        _view(ledger, tmp_path, ids.session_id())
    assert caught.value.code == "session.unknown"


def test_a_session_without_entries_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = _sealed(recorder)
    _edit(tmp_path, "DELETE FROM entries WHERE sid = ?", sid)
    with pytest.raises(IntegrityError) as caught:
        _view(ledger, tmp_path, sid)
    assert caught.value.code == "ledger.entries"


def test_all_sessions_come_oldest_first(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    first, second = _sealed(recorder), _sealed(recorder)
    view = all_view(ledger, Home(tmp_path))
    assert [session["session_id"] for session in view["sessions"]] == [first, second]
    assert (view["verified"], view_exit_code(view)) == (True, 0)


def test_one_open_session_makes_the_history_incomplete(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    _sealed(recorder)
    spawned(recorder)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 8


def test_an_empty_history_is_no_pass(tmp_path: Path, ledger: Ledger) -> None:
    view = all_view(ledger, Home(tmp_path))
    assert (view["sessions"], view["verified"], view_exit_code(view)) == ([], False, 8)


def _remember(recorder: Recorder) -> str:
    """Enter a change of memory outside any session; return the session of the recorder."""
    said: dict[str, Value] = {"memory": "m1", "change": "memory.saved"}
    recorder.change(lambda _: (None, [Draft("", "memory.changed", ids.entry_id(), said)]))
    return recorder.system()


def test_memory_alone_is_a_history_once_the_recorder_has_sealed_it(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    system = _remember(recorder)
    view = all_view(ledger, Home(tmp_path))
    assert (view["verified"], view_exit_code(view)) == (False, 8)
    recorder.close()
    view = all_view(ledger, Home(tmp_path))
    assert (view["sessions"], view["verified"], view_exit_code(view)) == ([], True, 0)
    assert view["recorder"]["memory_changes"] == 1
    assert view["recorder"]["verified"] == view["recorder"]["sessions"]
    with open_recorder(tmp_path) as running:  # as a server of memory does all day
        _remember(running)
        view = all_view(ledger, Home(tmp_path))
        assert (view["verified"], view["recorder"]["memory_changes"]) == (True, 2)
    _edit(tmp_path, "UPDATE entries SET body = x'00' WHERE seq = 1 AND sid = ?", system)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 7


def test_a_session_hidden_from_the_columns_is_still_listed(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = _sealed(recorder)
    for table in ("actions", "credentials_log", "sessions"):
        _edit(tmp_path, f"DELETE FROM {table} WHERE session_id = ?", sid)
    view = all_view(ledger, Home(tmp_path))
    assert [session["session_id"] for session in view["sessions"]] == [sid]
    assert view_exit_code(view) == 7


def test_an_edited_session_of_the_recorder_breaks_the_history(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    system = recorder.system()
    _sealed(recorder)
    recorder.close()
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 0
    _edit(tmp_path, "UPDATE entries SET body = x'00' WHERE seq = 1 AND sid = ?", system)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 7


def test_a_session_that_was_made_the_recorders_own_breaks_the_history(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    hidden = _sealed(recorder)
    _sealed(recorder)
    statement = (
        "UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '\"token\":',"
        ' \'"system":true,"token":\') AS BLOB) WHERE seq = 0 AND sid = ?'
    )
    _edit(tmp_path, statement, hidden)
    view = all_view(ledger, Home(tmp_path))
    assert hidden not in [session["session_id"] for session in view["sessions"]]
    assert (view["verified"], view_exit_code(view)) == (False, 7)


def test_a_session_cut_out_of_the_log_breaks_the_history(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    first, _ = _sealed(recorder), _sealed(recorder)
    for table in ("payloads",):
        _edit(
            tmp_path,
            f"DELETE FROM {table} WHERE entry_idx IN (SELECT idx FROM entries WHERE sid = ?)",
            first,
        )
    for column, table in (
        ("session_id", "actions"),
        ("session_id", "credentials_log"),
        ("sid", "entries"),
        ("session_id", "sessions"),
    ):
        _edit(tmp_path, f"DELETE FROM {table} WHERE {column} = ?", first)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 7


def test_two_sessions_can_be_compared(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    first, second = _sealed(recorder), _sealed(recorder)
    comparison = _view(ledger, tmp_path, second, against=first)["comparison"]
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
    actions = _view(ledger, tmp_path, owned.sid, disclose=True)["actions"]
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
    (action,) = _view(ledger, tmp_path, owned.sid, parts="excerpt")["actions"]
    assert (action["request"]["state"], action["request"]["size"]) == ("truncated", 119)
