from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_cli.demo.command import CLOSING, ENDING, OPENING, WORKING

SECONDS = 100


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Run the demo in a folder whose `ghost.toml` would break every command."""
    folder, broken = tmp_path_factory.mktemp("demo"), tmp_path_factory.mktemp("broken")
    (broken / "ghost.toml").write_text("[broken")
    done = subprocess.run(
        [sys.executable, "-m", "ghost_cli", "demo", "--output", str(folder), "--json"],
        cwd=broken,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return folder, done


@pytest.mark.slow
@pytest.mark.proxy
def test_every_step_is_as_promised(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, done = ran
    assert done.returncode == 0, done.stderr
    told = [step["name"] for step in json.loads(done.stdout)["steps"]]
    every = (*OPENING, *WORKING, *ENDING, *CLOSING)
    assert told == [*told[:2], "ghost possess", *told[3:]]
    assert set(told) == {"ghost possess", *(name for name, _ in every)}


@pytest.mark.slow
@pytest.mark.proxy
def test_the_page_and_the_bundle_are_left(
    ran: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = ran
    assert sorted(path.name for path in folder.iterdir()) == ["audit.html", "session.ghost"]
