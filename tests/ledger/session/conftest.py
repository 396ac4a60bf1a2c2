"""A home, a runtime folder and a clock of our own for every test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.paths import Home, runtime_dir
from ghost_core.settings import Settings, load
from ghost_ledger.recorder import Recorder
from ghost_ledger.session.custody import Custody
from support.handclock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(autouse=True)
def home(home: Path) -> Home:
    """The home that the house gives to every test, created."""
    return Home(home).ensure()


@pytest.fixture
def root() -> Path:
    """The runtime folder of this test."""
    return runtime_dir()


@pytest.fixture
def sid(root: Path) -> str:
    """A session that was made and that nobody owns."""
    custody = Custody.create(ids.session_id())
    custody.release()
    return custody.folder.sid


type Launch = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Start Python on a script with arguments; whatever still runs at the end is killed."""
    running: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(child)
        return child

    yield start
    for child in running:
        child.kill()
        child.communicate(timeout=5)


@pytest.fixture
def settings(home: Home, tmp_path: Path) -> Settings:
    return load(cwd=tmp_path)


@pytest.fixture
def recorder(home: Home, root: Path, settings: Settings, clock: HandClock) -> Iterator[Recorder]:
    with Recorder.open(home, settings.database.url, clock=clock) as opened:
        yield opened
