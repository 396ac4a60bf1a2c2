"""What runs beside the bench: the files it uses, and processes that are pinned, awaited and stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 25.0
PROXY_CORE, LOAD_CORE = "1", "0"


class SkippedError(Exception):
    """A peer is not available here; the text says why."""


@dataclass(frozen=True, slots=True)
class Files:
    """What is on disk and where the upstream is; `kept` outlives the run, `out` does not."""

    kept: Path
    out: Path
    upstream_port: int
    upstream_ca: Path

    @property
    def authority(self) -> str:
        """The upstream as CONNECT names it."""
        return f"localhost:{self.upstream_port}"


@dataclass(frozen=True, slots=True)
class Peer:
    """A running proxy: how to reach it, what its clients trust; `pid` is 0 for no proxy."""

    name: str
    pid: int
    proxy: str
    ca: Path
    auth: str = ""


@contextlib.contextmanager
def running(
    name: str,
    command: list[str],
    port: int,
    files: Files,
    environment: dict[str, str] | None = None,
    *,
    core: str = PROXY_CORE,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process until the block ends; raises SkippedError if its port does not open."""
    log = files.out / f"{name.replace(' ', '_')}.log"
    with log.open("wb") as into:
        process = subprocess.Popen(
            pinned(command, core),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=into,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_port(name, process, port, log)
        yield process
    finally:
        _stop(process)


def pinned(command: list[str], core: str) -> list[str]:
    """Pin a command to a core, where there is more than one and `taskset`."""
    if shutil.which("taskset") and (os.cpu_count() or 1) > 1:
        return ["taskset", "-c", core, *command]
    return command


def free_port() -> int:
    """Return a free loopback port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_port(name: str, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
            return
        time.sleep(0.05)
    last = (log.read_text("utf-8", "replace").strip().splitlines() or ["no output"])[-1]
    raise SkippedError(f"{name}: did not start, {last}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(12)
            return
