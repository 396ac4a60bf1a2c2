"""A process that is killed at a chosen step: one that starts once, and forks a child for each step."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_PROGRAM = """
import functools, importlib, os, shutil, signal, sys
from pathlib import Path

def killed(function, when):
    @functools.wraps(function)
    def call(*words, **named):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        function(*words, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    return call

def patch(step):
    when, place = step.split(" ")
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner = importlib.import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    setattr(owner, name, killed(getattr(owner, name), when))

program, source, *steps = sys.argv[1:]
work = {}
exec(program, work)
for number, step in enumerate(steps):
    folder = shutil.copytree(source, f"{source}-{number}")
    child = os.fork()
    if not child:
        try:
            patch(step)
            work["run"](Path(folder))
        finally:
            os._exit(3)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), (step, status)
"""


def killed_at(program: str, folder: Path, steps: Sequence[str]) -> list[Path]:
    """Run `program`'s function `run` on a copy of a folder for each step, killed there; return the copies.

    A step is `before module:name` or `after module:Class.name`: the call at which the child is killed.
    """
    words = [sys.executable, "-c", _PROGRAM, program, str(folder), *steps]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return [Path(f"{folder}-{number}") for number in range(len(steps))]
