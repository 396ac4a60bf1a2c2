from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_cli import streams

# Starts `ghost` as a shell would that has closed a stream, or sent it to where nothing fits.
SHELL = 'exec "$0" -P -m ghost_cli "$@" '
NO_SPACE = "standard output: cannot be written, No space left on device"
CLOSED = "standard output: cannot be written, Bad file descriptor"


def ghost(folder: Path, ending: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GHOST_HOME": str(folder / "home")}
    env |= {"XDG_RUNTIME_DIR": str(folder), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["/bin/sh", "-c", SHELL + ending, sys.executable, *words],
        env=env, cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("memory", "--help"),
        ("version", "--help"),
        ("context", "--help"),
        ("session", "list"),
        ("memory", "export"),
        ("config", "schema"),
    ],
    ids=" ".join,
)
def test_a_full_stdout_is_what_is_missing(words: tuple[str, ...], tmp_path: Path) -> None:
    done = ghost(tmp_path, ">/dev/full", *words)
    assert (done.returncode, done.stderr) == (4, f"ghost: {NO_SPACE}\n")


def test_a_full_stdout_is_an_error_in_json_too(tmp_path: Path) -> None:
    done = ghost(tmp_path, ">/dev/full", "version", "--json")
    document = json.loads(done.stderr)
    assert (document["code"], document["message"]) == ("stdout.unwritable", NO_SPACE)
    assert document["exit_code"] == done.returncode == 4


@pytest.mark.parametrize(
    "words", [("version",), ("memory", "--help"), ("memory", "export")], ids=" ".join
)
def test_a_closed_stdout_is_said_to_be_so(words: tuple[str, ...], tmp_path: Path) -> None:
    done = ghost(tmp_path, ">&-", *words)
    assert (done.returncode, done.stderr) == (4, f"ghost: {CLOSED}\n")


@pytest.mark.parametrize("ending", ["2>&-", "2>/dev/full"])
def test_without_stderr_the_exit_code_still_tells(ending: str, tmp_path: Path) -> None:
    assert ghost(tmp_path, ending, "nonsense").returncode == 2
    done = ghost(tmp_path, ending, "version")
    assert (done.returncode, done.stdout[:6]) == (0, "ghost ")


def test_a_closed_stdin_is_an_empty_one(tmp_path: Path) -> None:
    done = ghost(tmp_path, "<&-", "memory", "save", "-", "--project", "shop")
    assert done.returncode == 2
    assert "unexpected" not in done.stderr


def test_all_three_may_be_closed(tmp_path: Path) -> None:
    assert ghost(tmp_path, "<&- >&- 2>&-", "version").returncode == 4


def test_an_error_of_something_else_is_not_put_on_stdout() -> None:
    assert streams.unwritable(OSError(5, "of a disk")) is None
