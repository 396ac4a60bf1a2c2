"""After a crash: unknown is written down, nothing is sent again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_core.errors import DeniedError
from ghost_ledger import entry
from ghost_ledger.reader import Ledger
from ghost_ledger.recovery import Recovered
from ghost_ledger.session.custody import is_owned
from support.ledger import Owned, denied, differences, intent, open_recorder, rows, spawned

CRASHING = """
import sys
from pathlib import Path
from support.ledger import intent, open_recorder, spawned
recorder = open_recorder(Path(sys.argv[1]))
owned = spawned(recorder)
owned.act()
recorder.append(intent(owned.sid))
sys.stdout.write(owned.sid + "\\n")
sys.stdout.flush()
sys.stdin.readline()
"""


BUSY = """
import sys, threading
from pathlib import Path
from support.ledger import CLOSED, open_recorder, spawned
recorder = open_recorder(Path(sys.argv[1]))
def work():
    while True:
        owned = spawned(recorder)
        owned.act()
        recorder.seal(owned.sid, CLOSED)
        sys.stdout.write("sealed\\n")
        sys.stdout.flush()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
sys.stdin.readline()
"""


def _crashed(folder: Path) -> str:
    """Let a process die between intent and outcome; return its session."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", CRASHING, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as child:
        assert child.stdout is not None
        sid = child.stdout.readline().strip()
        child.send_signal(signal.SIGKILL)
        child.wait(5)
    return sid


def _statuses(folder: Path, sid: str) -> list[str]:
    return rows(folder, "SELECT status FROM actions WHERE session_id = ? ORDER BY timestamp", sid)


def test_a_killed_owner_leaves_an_unknown_action_and_an_abandoned_session(tmp_path: Path):
    sid = _crashed(tmp_path)
    with open_recorder(tmp_path) as recorder:
        recorder.recover(lambda each: not is_owned(each))
        row = Ledger(recorder.engine).session(sid)
        assert row is not None
        assert (row.status, row.size) == ("abandoned", 4)
        assert _statuses(tmp_path, sid) == ["executed", "unknown"]
        assert differences(recorder.engine) == []


def test_the_system_session_of_the_killed_process_is_abandoned_too(tmp_path: Path):
    _crashed(tmp_path)
    with open_recorder(tmp_path) as recorder:
        recorder.recover(lambda each: not is_owned(each))
        live = [
            row.session_id
            for row in Ledger(recorder.engine).sessions(system=True)
            if row.status == "live"
        ]
        assert live == [recorder.system()]


def test_recovering_twice_finds_nothing_more(tmp_path: Path):
    _crashed(tmp_path)
    with open_recorder(tmp_path) as recorder:
        assert len(recorder.recover(lambda each: not is_owned(each))) == 2
        assert recorder.recover(lambda each: not is_owned(each)) == []


@pytest.mark.slow
def test_a_process_killed_while_it_writes_leaves_a_whole_ledger(tmp_path: Path):
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", BUSY, str(tmp_path)]
    sealed = 0
    for lines in (1, 9, 23):
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        ) as child:
            assert child.stdout is not None
            for _ in range(lines):
                sealed += child.stdout.readline() == "sealed\n"
            child.kill()
    with open_recorder(tmp_path) as recorder:
        recorder.recover(lambda each: not is_owned(each))
        assert differences(recorder.engine) == []
        statuses = [row.status for row in Ledger(recorder.engine).sessions()]
    assert sealed == 33
    assert statuses.count("sealed") >= sealed
    assert "live" not in statuses


@pytest.fixture
def left(tmp_path: Path) -> Owned:
    """A session with one unanswered intent, whose recorder has gone."""
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        recorder.append(intent(owned.sid), denied(owned.sid))
    return owned


def test_an_owned_session_is_left_alone(tmp_path: Path, left: Owned):
    with open_recorder(tmp_path) as recorder:
        assert recorder.recover(lambda _: False) == []
    assert sorted(_statuses(tmp_path, left.sid)) == ["denied", "pending"]


def test_a_session_that_can_go_on_only_gets_its_unknown(tmp_path: Path, left: Owned):
    with open_recorder(tmp_path) as recorder:
        (found,) = recorder.recover(lambda _: True, can_continue=lambda _: True)
        assert (found.sid, len(found.unknown), found.abandoned) == (left.sid, 1, False)
        recorder.attach(left.sid, left.key)
        assert recorder.append(intent(left.sid))[0].seq == 3
        assert differences(recorder.engine) == []


def test_nothing_can_follow_in_an_abandoned_session(tmp_path: Path, left: Owned):
    with open_recorder(tmp_path) as recorder:
        recorder.recover(lambda _: True)
        with pytest.raises(DeniedError) as caught:
            recorder.attach(left.sid, left.key)
    assert caught.value.code == "session.abandoned"


def test_the_unknown_names_the_intent_that_has_no_answer(tmp_path: Path, left: Owned):
    with open_recorder(tmp_path) as recorder:
        (found,) = recorder.recover(lambda _: True)
    assert isinstance(found, Recovered)
    query = "SELECT {} FROM entries WHERE type = '{}'"
    ((leaf, action),) = rows(tmp_path, query.format("leaf_hash, id", "action.intent"))
    (body,) = rows(tmp_path, query.format("body", "action.unknown"))
    fields = entry.parse(body).fields
    assert (fields["intent"], fields["action"]) == (leaf.hex(), action)
    assert found.unknown == (action,)


def test_a_run_that_finds_nothing_opens_no_system_session(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
    with open_recorder(tmp_path) as recorder:
        assert recorder.recover(lambda _: True, can_continue=lambda sid: sid == owned.sid) == []
        size = recorder.head[0]
    assert rows(tmp_path, "SELECT count(*) FROM entries") == [size]
