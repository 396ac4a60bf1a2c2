"""Runs the real commands as a person would: each in a process of its own, every wait bounded."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ghost_core.errors import FailedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

READY = "Ready for ghost act"
_COMMAND_SECONDS = 20
_START_SECONDS = 20.0
_STOP_SECONDS = 15

type Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Done:
    """A finished command: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, object]:
        """Return the JSON object on stdout; raises FailedError."""
        try:
            document = json.loads(self.out)
        except ValueError as error:
            raise FailedError(f"expected JSON on stdout, found {self.out[:80]!r}") from error
        if not isinstance(document, dict):
            raise FailedError(f"expected a JSON object, found {type(document).__name__}")
        return document


def run(command: Sequence[str], environment: Environment, *, folder: Path | None = None) -> Done:
    """Run a program to its end, in a folder if one is named; raises FailedError after 20 s."""
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FailedError(
            f"{command[0]}: expected an end within {_COMMAND_SECONDS} s", code="demo.timeout"
        ) from error
    return Done(done.returncode, done.stdout, done.stderr)


def ghost(
    environment: Environment, *arguments: str, code: int = 0, folder: Path | None = None
) -> Done:
    """Run a `ghost` command that must end with this exit code; raises FailedError."""
    # -P: a file named like one of our modules in the current folder is not imported.
    done = run([sys.executable, "-P", "-m", "ghost_cli", *arguments], environment, folder=folder)
    if done.code != code:
        said = _said((done.err or done.out).splitlines())
        raise FailedError(
            f"ghost {arguments[0]}: expected exit {code}, found {done.code}, it said {said!r}",
            code="demo.exit",
        )
    return done


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running `ghost possess`; `ready_ms` is how long it took to accept connections."""

    process: subprocess.Popen[str]
    ready_ms: int


@contextmanager
def possess(
    environment: Environment, *arguments: str, folder: Path | None = None
) -> Iterator[Proxy]:
    """Run `ghost possess` until the block ends; raises FailedError if it is not ready in 20 s."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "ghost_cli", "possess", *arguments],
        cwd=folder,
        env={"PYTHONUNBUFFERED": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        _wait_ready(process, started + _START_SECONDS)
        yield Proxy(process, round((time.monotonic() - started) * 1000))
    finally:
        _stop(process)


def _wait_ready(process: subprocess.Popen[str], deadline: float) -> None:
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_pump, args=(process.stdout, lines), daemon=True).start()
    said: list[str] = []
    while (left := deadline - time.monotonic()) > 0:
        try:
            line = lines.get(timeout=left)
        except queue.Empty:
            break
        if line is None:
            break
        if READY in line:
            return
        said.append(line)
    raise FailedError(f"ghost possess: not ready, it said {_said(said)!r}", code="demo.possess")


def _said(lines: list[str]) -> str:
    """Return the line with ghost's own error, else the last one."""
    words = [line.strip() for line in lines if line.strip()] or ["nothing"]
    return next((line for line in words if line.startswith("ghost: ")), words[-1])


def _pump(stream: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(_STOP_SECONDS)
