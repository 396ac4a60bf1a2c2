"""Which possess processes run on this machine, and how to stop one."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ghost_cli import output
from ghost_core.errors import GhostError, NotFoundError, UnavailableError
from ghost_core.files import write_file
from ghost_core.paths import runtime_dir

STOP_SECONDS = 15.0


@contextlib.contextmanager
def announced(port: int) -> Iterator[None]:
    """Leave a note of this process for `--stop`, as long as it runs."""
    note = _note(port)
    document = {"pid": os.getpid(), "port": port, "started": _started(os.getpid())}
    write_file(note, json.dumps(document).encode(), mode=0o600)
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def stop(port: int | None) -> int:
    """Send SIGTERM to the possess on a port, or to the only one, and wait until it has drained."""
    found = [each for each in _alive() if port is None or each["port"] == port]
    if not found:
        where = f" on port {port}" if port is not None else ""
        raise NotFoundError(f"no possess runs{where}", code="possess.none")
    if len(found) > 1:
        ports = ", ".join(str(each["port"]) for each in found)
        raise UnavailableError(
            f"several possess run, on ports {ports}",
            code="possess.several",
            hint="ghost possess --stop --port PORT",
        )
    pid, where_port = found[0]["pid"], found[0]["port"]
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + STOP_SECONDS
    while _started(pid) == found[0]["started"]:
        if time.monotonic() > end:
            raise UnavailableError(f"process {pid}: did not end", code="possess.stuck")
        time.sleep(0.05)
    output.result({"schema": "ghost/possess-stop/v1", "port": where_port}, f"stopped {where_port}")
    return 0


def port_of(configured: int) -> int:
    """Return the port of the only running possess, else the configured one."""
    found = list(_alive())
    if any(each["port"] == configured for each in found) or len(found) != 1:
        return configured
    return found[0]["port"]


def _alive() -> Iterator[dict[str, int]]:
    for note in sorted(runtime_dir().glob("possess-*.json")):
        try:
            document = json.loads(note.read_bytes())
            found = {name: int(document[name]) for name in ("pid", "port", "started")}
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if _started(found["pid"]) == found["started"] != 0:
            yield found
        else:
            note.unlink(missing_ok=True)


def _note(port: int) -> Path:
    return runtime_dir() / f"possess-{port}.json"


def _started(pid: int) -> int:
    """Return when a process began, in ticks since boot; a pid alone may be somebody else's by now."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return _exists(pid)
    state, *rest = text.rpartition(")")[2].split()
    return 0 if state == "Z" else int(rest[18])


def _exists(pid: int) -> int:
    if Path("/proc/self").exists():
        return 0
    try:
        os.kill(pid, 0)
    except OSError:
        return 0
    return 1


def arguments() -> list[str]:
    """Return the command line of this process, as it was typed."""
    return sys.argv[1:]


def read_until_ready(child: subprocess.Popen[bytes], *, seconds: float) -> bytes:
    """Return what the child printed up to its last line; ends early if it does."""
    stream = child.stdout
    assert stream is not None
    os.set_blocking(stream.fileno(), False)
    end = time.monotonic() + seconds
    printed = b""
    while time.monotonic() < end:
        ready, _, _ = select.select([stream], [], [], 0.1)
        if ready:
            part = stream.read() or b""
            printed += part
            if not part and child.poll() is not None:
                break
        if printed.endswith((b"Ready for ghost act\n", b"}\n")):
            break
        if child.poll() is not None:
            break
    if child.poll() is not None:
        child.wait()
    return printed


def kind_of(exit_code: int) -> type[GhostError]:
    """Return the error whose exit code a child ended with."""
    kinds = {kind.exit_code: kind for kind in GhostError.__subclasses__()}
    return kinds.get(exit_code, GhostError)
