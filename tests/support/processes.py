"""`ghost` as a subprocess of this interpreter: every wait is bounded.

with ghost_home(tmp_path, up, certs) as home:
    session = ghost(home, "spawn", "--intent", "test", "--scope", "demo_api").json
    with possess(home, "--session-id", session["session_id"]) as proxy:
        ...                      # proxy.port, proxy.lines
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from support import forked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from support.home import GhostHome

COMMAND_SECONDS = 60.0
START_SECONDS = 60.0
STOP_SECONDS = 60.0
READY = "Ready for ghost act"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a finished command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # whatever the command printed
        """The one JSON object on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The one JSON error object on stderr (last line)."""
        return json.loads(self.err.strip().splitlines()[-1])


def free_port() -> int:
    """Return a loopback port that is free for IPv4 and IPv6 right now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def ghost(
    home: GhostHome,
    *arguments: str,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    timeout: float = COMMAND_SECONDS,
) -> Outcome:
    """Run one command to its end; raises subprocess.TimeoutExpired."""
    if env:  # may say how the interpreter starts
        return _started(arguments, stdin, {**home.env, **env}, home.root, timeout)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("in", "out", "err")]
        files[0].write_text(stdin, "utf-8")
        code = forked.run(arguments, env=home.env, cwd=home.root, files=files, seconds=timeout)
        return Outcome(code, files[1].read_text("utf-8"), files[2].read_text("utf-8"))


def _started(
    words: Sequence[str], stdin: str, env: Mapping[str, str], folder: Path, seconds: float
) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "ghost_cli", *words],
        env=env,
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def succeed(home: GhostHome, *arguments: str, timeout: float = COMMAND_SECONDS) -> Outcome:
    """Run one command that must end with 0; otherwise the test shows its stderr."""
    done = ghost(home, *arguments, timeout=timeout)
    assert done.code == 0, f"ghost {' '.join(arguments)}: exit {done.code}\n{done.out}\n{done.err}"
    return done


@dataclass(slots=True)
class Running:
    """A command that goes on; its output is collected by threads, so it never blocks."""

    process: subprocess.Popen[str]
    port: int = 0
    lines: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _open: int = 2

    def wait_line(self, text: str, *, seconds: float = START_SECONDS) -> str:
        """Wait for a line on stdout or stderr that contains the text; raises TimeoutError."""
        with self._changed:
            self._changed.wait_for(lambda: self._find(text) is not None or not self._open, seconds)
            found = self._find(text)
        if found is None:
            raise TimeoutError(f"expected a line with {text!r}, found {self.lines} {self.errors}")
        return found

    def stop(self, number: int = signal.SIGTERM, *, seconds: float = STOP_SECONDS) -> int:
        """Send a signal and return the exit code; a process that stays is killed, and fails."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(COMMAND_SECONDS)
            raise

    def _find(self, text: str) -> str | None:
        return next((line for line in (*self.lines, *self.errors) if text in line), None)

    def collect(self, stream: IO[str], into: list[str]) -> None:
        """Read a stream to its end."""
        with stream:
            for line in stream:
                with self._changed:
                    into.append(line.rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._open -= 1
            self._changed.notify_all()


def start(
    home: GhostHome,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Running:
    """Start a command in its own process group, in a folder or the home, and do not wait."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ghost_cli", *arguments],
        env={"PYTHONUNBUFFERED": "1", **home.env, **(env or {})},
        cwd=folder or home.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    running = Running(process)
    for stream, into in ((process.stdout, running.lines), (process.stderr, running.errors)):
        assert stream is not None
        threading.Thread(target=running.collect, args=(stream, into), daemon=True).start()
    return running


@contextmanager
def possess(
    home: GhostHome,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[Running]:
    """Run `ghost possess` on the home's port, started in a folder, until the block ends."""
    port = ("--port", str(home.port))
    running = start(home, "possess", *port, *arguments, env=env, folder=folder)
    running.port = home.port
    try:
        running.wait_line(READY)
        yield running
    finally:
        running.stop()
