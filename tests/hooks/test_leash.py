"""What a hook left behind is found, or at least seen."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ghost_hooks import leash as module
from ghost_hooks.leash import NAME, Leash


@contextmanager
def held(leash: Leash, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that has the hook's end and a mark."""
    argv = [sys.executable, "-IS", "-c", "import time; print(flush=True); time.sleep(60)"]
    with subprocess.Popen(
        argv, env={NAME: mark}, pass_fds=(leash.write_end,), stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        leash.let_go()
        try:
            yield child
        finally:
            child.kill()


def test_nothing_is_left_of_a_hook_that_ended() -> None:
    leash = Leash()
    os.write(leash.write_end, b"noise")
    leash.let_go()
    assert not asyncio.run(leash.pull())


def test_what_carries_the_mark_is_killed() -> None:
    leash = Leash()
    with held(leash, leash.mark) as child:
        assert not asyncio.run(leash.pull())
        assert child.wait(5) == -9


def test_what_dropped_the_mark_is_seen_but_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES_SECONDS", (0.0, 0.0))
    leash = Leash()
    with held(leash, "another") as child:
        assert asyncio.run(leash.pull())
        assert child.poll() is None


def test_every_hook_has_a_mark_of_its_own() -> None:
    marks = set()
    for _ in range(2):
        leash = Leash()
        marks.add(leash.mark)
        leash.let_go()
        asyncio.run(leash.pull())
    assert len(marks) == 2
