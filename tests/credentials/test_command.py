from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_credentials.command import KEEP_US, Commands
from support.shell import eventually


@dataclass
class HandClock:
    boot_us: int = 0

    def now_us(self) -> int:
        return self.boot_us

    def boottime_us(self) -> int:
        return self.boot_us

    def boot_id(self) -> str:
        return "test"


def commands(
    clock: HandClock | None = None, *, folder: Path = Path("/"), timeout_seconds: float = 5.0
) -> Commands:
    return Commands(clock or HandClock(), folder=folder, timeout_seconds=timeout_seconds)


def test_a_program_runs_in_the_folder_that_it_is_given(tmp_path: Path) -> None:
    answer = commands(folder=tmp_path).answer("pwd", subject="x")
    assert answer.reveal().decode().strip() == str(tmp_path)


def test_an_answer_is_used_again_for_a_minute(tmp_path: Path) -> None:
    clock, key = HandClock(), tmp_path / "key"
    found = commands(clock)
    key.write_bytes(b"one")
    assert found.answer(f"cat {key}", subject="x").reveal() == b"one"
    key.write_bytes(b"two")
    clock.boot_us = KEEP_US - 1
    assert found.answer(f"cat {key}", subject="x").reveal() == b"one"
    clock.boot_us = KEEP_US
    assert found.answer(f"cat {key}", subject="x").reveal() == b"two"


def test_wiping_an_answer_does_not_touch_the_kept_one() -> None:
    found = commands()
    found.answer("printf one", subject="x").wipe()
    assert found.answer("printf one", subject="x").reveal() == b"one"


def test_an_old_answer_does_not_outlive_a_failure(tmp_path: Path) -> None:
    clock, key = HandClock(), tmp_path / "key"
    found = commands(clock)
    key.write_bytes(b"one")
    found.answer(f"cat {key}", subject="x")
    key.unlink()
    clock.boot_us = KEEP_US
    for _ in range(2):
        with pytest.raises(UnavailableError, match="x: the command ended with exit status 1"):
            found.answer(f"cat {key}", subject="x")


def test_a_program_that_is_not_there_is_named_by_its_credential() -> None:
    with pytest.raises(UnavailableError, match="x: the command cannot be started") as caught:
        commands().answer("/nonexistent/program", subject="x")
    assert caught.value.code == "credential.unavailable"


def ended(stat: Path) -> bool:
    """Tell whether a process is gone, or waits only to be asked how it ended."""
    try:
        return stat.read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    script = tmp_path / "hang"
    script.write_text("#!/bin/sh\nsleep 60 & echo $! >" + str(tmp_path / "pid") + "\nwait\n")
    script.chmod(0o700)
    with pytest.raises(UnavailableError, match="ran over 2 s"):
        commands(timeout_seconds=2).answer(str(script), subject="x")
    child = Path("/proc") / (tmp_path / "pid").read_text().strip() / "stat"
    eventually(lambda: ended(child), "the end of the child")


def test_what_a_command_says_on_stderr_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnavailableError) as caught:
        commands().answer("sh -c 'echo hunter2 >&2; exit 3'", subject="x")
    assert "hunter2" not in str(caught.value) + "".join(capfd.readouterr())
