from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger.export import cloudevents
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.record import gather
from ghost_ledger.export.source import Source
from ghost_ledger.reader import Ledger
from support.ledger import CLOSED, denied, open_recorder, spawned, url_of


def lived(folder: Path) -> tuple[Signed, ...]:
    """Return the entries of a session with a call and a refusal, sealed."""
    with open_recorder(folder) as recorder:
        owned = spawned(recorder)
        owned.act()
        recorder.append(denied(owned.sid))
        recorder.seal(owned.sid, CLOSED)
    engine = db.engine(url_of(folder))
    try:
        return gather(
            Source(Ledger(engine, Home(folder))), Home(folder), owned.sid, key=None
        ).signed
    finally:
        engine.dispose()


def test_a_session_is_told_from_its_entries(tmp_path: Path) -> None:
    signed = lived(tmp_path)
    found = list(cloudevents.events(signed))
    assert [each["type"] for each in found] == [
        "session.spawned",
        "action.executed",
        "action.denied",
        "session.sealed",
    ]
    intent = next(each.entry for each in signed if each.type == "action.intent")
    outcome = next(each for each in signed if each.type == "action.outcome")
    data = found[1]["data"]
    assert data["entry_hash"] == outcome.leaf_hash.hex()
    assert data["action_id"] == intent.id
    assert {name: data[name] for name in cloudevents.CALL_NAMES} == {
        name: intent.fields[name] for name in cloudevents.CALL_NAMES
    }
    assert found[1]["source"] == f"{intent.log}/s/{intent.sid}"
    assert (found[1]["specversion"], found[1]["subject"]) == ("1.0", intent.sid)


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    signed = [replace(each, problem="broken") for each in lived(tmp_path)]
    assert list(cloudevents.events(signed)) == []


def test_an_outcome_without_its_intent_names_no_call(tmp_path: Path) -> None:
    signed = [each for each in lived(tmp_path) if each.type == "action.outcome"]
    (event,) = cloudevents.events(signed)
    assert "tool" not in event["data"]
    assert event["data"]["status"] == "executed"
