"""A home, a runtime folder and a clock of our own for every test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghost_core.paths import Home
from ghost_core.settings import Settings, load
from ghost_ledger.recorder import Recorder
from support.handclock import HandClock

@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("GHOST_HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home").ensure()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / "ghost_sessions"
    folder.mkdir(mode=0o700)
    return folder


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
