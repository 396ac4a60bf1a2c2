from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger import entry
from ghost_ledger.canonical import Value
from ghost_ledger.commitment import commit
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Draft, Recorder
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.spawn import Spawned, spawn
from ghost_ledger.session.sweep import Swept, due, sweep
from support.handclock import HandClock
from support.ledger import CLOSED

OWNER = """
import sys
from ghost_ledger.session.custody import Custody
custody = Custody.create(sys.argv[1], persist=False) if sys.argv[2] == "new" else Custody.acquire(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
"""

type Spawn = Callable[..., Spawned]
type Launch = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def make(recorder: Recorder, home: Home, settings: Settings, clock: HandClock) -> Spawn:
    def call(ttl_seconds: int = 300, *, persist: bool = True) -> Spawned:
        spawned = spawn(
            recorder,
            home,
            settings,
            intent="test",
            ttl_seconds=ttl_seconds,
            scopes=["stripe"],
            clock=clock,
            policy_hash="0" * 64,
            contains=lambda *_: True,
            persist=persist,
        )
        recorder.detach(spawned.session_id)
        spawned.custody.release()
        return spawned

    return call


def intend(recorder: Recorder, sid: str, *, tool: str = "stripe", method: str = "POST") -> str:
    """Enter an intent without an answer, as an owner does that dies during the call."""
    action = ids.action_id()
    _, params = commit("params", b"")
    _, forwarded = commit("forwarded", b"")
    fields: dict[str, Value] = {
        "tool": tool,
        "action": "create",
        "scheme": "https",
        "method": method,
        "host": "api.stripe.com",
        "port": 443,
        "params": params,
        "forwarded": forwarded,
        "body": "none",
        "policy": "0" * 64,
        "verdicts": [],
    }
    with Custody.acquire(sid) as custody:
        recorder.attach(sid, custody.key)
        recorder.append(Draft(sid, "action.intent", action, fields))
        recorder.detach(sid)
    return action


def types(recorder: Recorder, sid: str) -> list[str]:
    return [entry.parse(stored.body).type for stored in Ledger(recorder.engine).entries(sid)]


def status(recorder: Recorder, sid: str) -> tuple[str, str | None]:
    row = Ledger(recorder.engine).session(sid)
    assert row is not None
    return row.status, row.reason


def test_nothing_open_means_nothing_to_do(recorder: Recorder, home: Home, clock: HandClock) -> None:
    assert due(recorder.engine, clock) == []
    assert sweep(recorder, home, clock) == ()


def test_a_living_session_without_owner_is_left_alone(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn
) -> None:
    spawned = make()
    assert sweep(recorder, home, clock) == ()
    assert status(recorder, spawned.session_id)[0] == "live"


def test_an_ended_session_is_sealed_with_its_own_key_and_its_folder_goes(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, root: Path
) -> None:
    spawned = make(10)
    clock.pass_seconds(10)
    assert sweep(recorder, home, clock) == (Swept(spawned.session_id, "sealed"),)
    assert status(recorder, spawned.session_id) == ("sealed", "ttl")
    assert types(recorder, spawned.session_id) == [
        "session.spawn",
        "session.closed",
        "session.seal",
    ]
    assert not (root / spawned.session_id).exists()
    assert sweep(recorder, home, clock) == ()


def test_after_a_reboot_a_session_with_its_key_is_sealed(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn
) -> None:
    spawned = make()
    clock.boot, clock.boottime = "boot-2", 1
    assert sweep(recorder, home, clock) == (Swept(spawned.session_id, "sealed"),)


def test_after_a_reboot_a_session_without_its_key_is_abandoned(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, root: Path
) -> None:
    spawned = make()
    Custody.acquire(spawned.session_id).destroy()
    clock.boot, clock.boottime = "boot-2", 1
    assert sweep(recorder, home, clock) == (Swept(spawned.session_id, "abandoned"),)
    assert status(recorder, spawned.session_id)[0] == "abandoned"


def test_an_owned_session_is_its_owners_business(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn
) -> None:
    spawned = make(10)
    clock.pass_seconds(10)
    with Custody.acquire(spawned.session_id):
        assert sweep(recorder, home, clock) == ()
    assert status(recorder, spawned.session_id)[0] == "live"


def test_a_call_that_a_killed_owner_left_open_becomes_unknown_and_the_session_goes_on(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, launch: Launch
) -> None:
    spawned = make()
    intend(recorder, spawned.session_id)
    child = launch(OWNER, spawned.session_id, "old")
    child.stdout.readline()
    assert sweep(recorder, home, clock) == ()
    child.kill()
    child.wait(timeout=5)
    assert sweep(recorder, home, clock) == (Swept(spawned.session_id, "recovered"),)
    assert [action.status for action in Ledger(recorder.engine).actions(spawned.session_id)] == [
        "unknown"
    ]
    assert status(recorder, spawned.session_id)[0] == "live"
    assert sweep(recorder, home, clock) == ()


def test_an_open_call_of_an_ended_session_is_unknown_before_the_seal(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn
) -> None:
    spawned = make(10)
    intend(recorder, spawned.session_id)
    clock.pass_seconds(11)
    sweep(recorder, home, clock)
    closed = entry.parse(Ledger(recorder.engine).entries(spawned.session_id)[-2].body)
    assert closed.fields["summary"] == [
        {"tool": "stripe", "action": "create", "status": "unknown", "count": 1}
    ]
    assert closed.fields["lived_seconds"] == 10


def test_a_session_whose_key_died_with_its_owner_is_abandoned_at_once(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, root: Path
) -> None:
    spawned = make(persist=False)
    assert (root / spawned.session_id / "lock").exists()
    assert sweep(recorder, home, clock) == (Swept(spawned.session_id, "abandoned"),)
    assert not (root / spawned.session_id).exists()
    assert sweep(recorder, home, clock) == ()


def test_a_session_under_another_runtime_folder_is_given_up_only_after_its_end(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, tmp_path: Path
) -> None:
    spawned = make(300)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    for row in Ledger(recorder.engine).sessions(system=True):
        if row.system:
            (elsewhere / row.session_id).mkdir(
                mode=0o755
            )  # the recorder's own is not at issue here
    assert sweep(recorder, home, clock, root=elsewhere) == ()
    clock.pass_seconds(301)
    assert sweep(recorder, home, clock, root=elsewhere) == ()
    clock.pass_seconds(60)
    assert sweep(recorder, home, clock, root=elsewhere) == (Swept(spawned.session_id, "abandoned"),)


def test_a_damaged_key_file_is_as_good_as_none(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, root: Path
) -> None:
    spawned = make(10)
    (root / spawned.session_id / "ed25519_key").write_bytes(b"")
    clock.pass_seconds(10)
    assert sweep(recorder, home, clock) == (Swept(spawned.session_id, "abandoned"),)


def test_a_folder_that_is_not_ours_alone_stops_nothing_else(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, root: Path
) -> None:
    first, second = make(10), make(10)
    (root / first.session_id).chmod(0o755)
    clock.pass_seconds(10)
    assert sweep(recorder, home, clock) == (Swept(second.session_id, "sealed"),)


def test_a_key_that_an_owner_left_between_seal_and_wipe_is_removed(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, root: Path
) -> None:
    spawned = make()
    with Custody.acquire(spawned.session_id) as custody:
        recorder.attach(spawned.session_id, custody.key)
        recorder.seal(spawned.session_id, CLOSED)
        assert sweep(recorder, home, clock) == ()
    assert sweep(recorder, home, clock) == (Swept(spawned.session_id, "removed"),)
    assert not (root / spawned.session_id).exists()
    assert status(recorder, spawned.session_id) == ("sealed", "evaporate")


def test_a_key_of_another_session_is_as_good_as_none(
    recorder: Recorder, home: Home, clock: HandClock, make: Spawn, root: Path
) -> None:
    first, second = make(10), make(300)
    key = root / first.session_id / "ed25519_key"
    key.write_bytes((root / second.session_id / "ed25519_key").read_bytes())
    clock.pass_seconds(10)
    assert sweep(recorder, home, clock) == (Swept(first.session_id, "abandoned"),)
    assert status(recorder, second.session_id)[0] == "live"


def test_the_session_of_a_dead_recorder_is_abandoned(
    recorder: Recorder, home: Home, clock: HandClock, launch: Launch
) -> None:
    child = launch(
        "import sys\n"
        "from ghost_core.paths import home\n"
        "from ghost_core.settings import load\n"
        "from ghost_ledger.recorder import Recorder\n"
        "recorder = Recorder.open(home(), load().database.url)\n"
        "print(recorder.system(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    sid = child.stdout.readline().strip()
    assert due(recorder.engine, clock) == []
    child.kill()
    child.wait(timeout=5)
    assert sweep(recorder, home, clock) == (Swept(sid, "abandoned"),)
