"""One trigger, as a real process; over the wire it is told in test_events.py."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ghost_addons.notice import Notice
from ghost_addons.trigger import Trigger
from ghost_core.settings_tables import TriggerSettings

NOTICE = Notice("action.executed", "act_1", "ab" * 32, b'{"type":"action.executed"}')


def trigger(folder: Path, *command: str, seconds: float = 5.0) -> Trigger:
    return Trigger(TriggerSettings(on="action.executed", command=command), folder, seconds)


def test_the_event_is_on_stdin_and_the_command_needs_no_shell(tmp_path: Path) -> None:
    made = trigger(tmp_path, "/bin/sh", "-c", 'cat > out; echo "$0" >> out', "$HOME; true")
    made.start(NOTICE, threading.Event())
    assert (tmp_path / "out").read_text() == '{"type":"action.executed"}$HOME; true\n'
    assert (made.ran, made.failed) == (1, 0)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("/bin/sh", "-c", "exit 3"), "exit status 3"),
        (("/no/such/program", "hunter2"), "cannot be started"),
        (("/bin/echo", "null\0byte"), "cannot be started"),
        (("/bin/sh", "-c", "sleep 60 & sleep 60"), "took too long"),
        (("/bin/sh", "-c", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done"), "64 KiB"),
    ],
)
def test_a_failure_is_logged_and_counted_without_its_arguments(
    tmp_path: Path, command: tuple[str, ...], told: str
) -> None:
    made = trigger(tmp_path, *command, seconds=2)
    with capture_logs() as logged:
        made.start(NOTICE, threading.Event())
    (said,) = logged
    assert said["event"] == "trigger.failed"
    assert told in said["problem"]
    assert "hunter2" not in str(said)
    assert made.failed == 1


def test_one_that_hangs_is_ended_with_its_children_when_it_is_told_to_stop(tmp_path: Path) -> None:
    made = trigger(tmp_path, "/bin/sh", "-c", "sleep 60 & echo $! > child; sleep 60", seconds=60)
    stop = threading.Event()
    thread = threading.Thread(target=made.start, args=(NOTICE, stop))
    thread.start()
    for _ in range(250):
        if (tmp_path / "child").exists() and (tmp_path / "child").read_text().strip():
            break
        time.sleep(0.02)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert made.failed == 1
    child = int((tmp_path / "child").read_text())
    for _ in range(250):
        if not _lives(child):
            return
        time.sleep(0.02)
    raise AssertionError("the child of the command lives on")


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_what_was_never_started_is_counted(tmp_path: Path) -> None:
    made = trigger(tmp_path, "/bin/true")
    made.lost(4)
    assert (made.ran, made.failed) == (0, 4)
