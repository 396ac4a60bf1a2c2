from __future__ import annotations

from pathlib import Path

import pytest

from support.home import ghost_home
from support.processes import ghost, start


def test_a_command_runs_in_the_tests_own_home(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        done = ghost(home, "version", "--json")
    assert (done.code, done.json["schema"]) == (0, "ghost/version/v1")


def test_an_error_is_read_from_stderr(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        done = ghost(home, "spwan", "--json")
    assert (done.code, done.error["code"]) == (2, "usage.command")


def test_waiting_for_a_line_ends_with_the_process(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        running = start(home, "version")
        assert running.wait_line("ghost ").startswith("ghost ")
        with pytest.raises(TimeoutError):
            running.wait_line("never")
        assert running.stop() == 0
