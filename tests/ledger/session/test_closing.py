from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from ghost_core import ids
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger import entry
from ghost_ledger.canonical import Value
from ghost_ledger.recorder import Draft, Recorder
from ghost_ledger.session.closing import SUMMARY_BYTES, SUMMARY_ROWS, closed_fields
from ghost_ledger.session.spawn import spawn
from ghost_ledger.session.tally import Tally
from support.handclock import HandClock


def opened(recorder: Recorder, home: Home, settings: Settings, clock: HandClock) -> str:
    """Spawn a session whose chain stays attached; its keys are wiped at once."""
    spawned = spawn(
        recorder,
        home,
        settings,
        intent="test",
        ttl_seconds=60,
        scopes=["stripe"],
        clock=clock,
        policy_hash="0" * 64,
        contains=lambda *_: True,
    )
    return spawned.session_id


def refuse(recorder: Recorder, sid: str, *, tool: str, count: int = 1) -> None:
    """Enter one refusal that stands for `count` equal ones."""
    fields = {
        "tool": tool,
        "action": "create",
        "method": "POST",
        "host": "api.test",
        "code": 403,
        "error": "scope.action",
        "stage": "scope",
        "rule": "none",
        "verdicts": [],
        "count": count,
    }
    recorder.append(Draft(sid, "action.denied", ids.action_id(), fields))


def test_entries_and_the_tally_of_reads_are_added_up(
    recorder: Recorder, home: Home, settings: Settings, clock: HandClock
) -> None:
    sid = opened(recorder, home, settings, clock)
    refuse(recorder, sid, tool="a", count=3)
    tally = Tally(Counter({("b", "read", "executed"): 2}), bytes_sent=1, bytes_received=10)
    fields = closed_fields(recorder.engine, sid, tally, reason="ttl", lived_seconds=7)
    assert fields == {
        "reason": "ttl",
        "reads": 2,
        "bytes_sent": 1,
        "bytes_received": 10,
        "summary": [
            {"tool": "a", "action": "create", "status": "denied", "count": 3},
            {"tool": "b", "action": "read", "status": "executed", "count": 2},
        ],
        "lived_seconds": 7,
    }


def test_the_rarest_actions_are_left_out_of_a_long_summary(
    recorder: Recorder, home: Home, settings: Settings, clock: HandClock
) -> None:
    sid = opened(recorder, home, settings, clock)
    for number in range(SUMMARY_ROWS + 3):
        refuse(recorder, sid, tool=f"tool_{number}")
    fields = closed_fields(recorder.engine, sid, Tally(), reason="ttl", lived_seconds=1)
    summary = fields["summary"]
    assert isinstance(summary, list)
    assert len(summary) == SUMMARY_ROWS
    assert fields["omitted"] == 3
    assert entered(recorder, sid, fields)["omitted"] == 3


@pytest.mark.parametrize("name", ["a" * 250, "\\" * 250, "\u00e9" * 250])
def test_names_as_long_as_they_may_be_still_fit_into_the_entry(
    name: str, recorder: Recorder, home: Home, settings: Settings, clock: HandClock
) -> None:
    sid = opened(recorder, home, settings, clock)
    refuse(recorder, sid, tool="frequent", count=2)
    for number in range(SUMMARY_ROWS):
        refuse(recorder, sid, tool=f"{number}{name}")
    fields = closed_fields(recorder.engine, sid, Tally(), reason="ttl", lived_seconds=1)
    summary = fields["summary"]
    assert isinstance(summary, list)
    assert summary[0] == {"tool": "frequent", "action": "create", "status": "denied", "count": 2}
    assert fields["omitted"] == SUMMARY_ROWS + 1 - len(summary)
    assert len(str(entered(recorder, sid, fields)["summary"]).encode()) > SUMMARY_BYTES // 3


def entered(recorder: Recorder, sid: str, fields: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the fields of the entry that these fields become."""
    body = entry.build(
        "session.closed",
        log=recorder.origin,
        sid=sid,
        seq=1,
        prev="0" * 64,
        ts=1,
        id_=ids.entry_id(),
        fields=fields,
    )
    return entry.parse(body).fields
