"""Which possess processes of this home run on this machine, and how to start and stop one."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ghost_cli import output
from ghost_core.errors import GhostError, NotFoundError, UnavailableError
from ghost_core.files import write_file
from ghost_core.paths import home as ghost_home
from ghost_core.paths import runtime_dir

STOP_SECONDS = 15.0
_PART_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Possess:
    """One running possess; `started` is in ticks since boot, because a pid alone is used again."""

    pid: int
    port: int
    started: int
    home: str

    def runs(self) -> bool:
        """Tell whether the very process still runs."""
        return _started(self.pid) == self.started != 0


@contextlib.contextmanager
def announced(port: int) -> Iterator[None]:
    """Leave a note of this process for `--stop` and `--env`, as long as it runs."""
    pid = os.getpid()
    note = runtime_dir() / f"possess-{port}.json"
    this = Possess(pid, port, _started(pid), str(ghost_home().root))
    write_file(note, json.dumps(asdict(this)).encode(), mode=0o600)
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def stop(port: int | None) -> int:
    """Send SIGTERM to the possess on a port, or to the only one, and wait until it has drained.

    Raises:
        NotFoundError: code `possess.none`, there is none.
        UnavailableError: code `possess.several`, a port must be named; `possess.stuck`, it did not end.
    """
    found = _chosen(port)
    with contextlib.suppress(ProcessLookupError):
        os.kill(found.pid, signal.SIGTERM)
    end = time.monotonic() + STOP_SECONDS
    while found.runs():
        if time.monotonic() > end:
            raise UnavailableError(f"process {found.pid}: did not end", code="possess.stuck")
        time.sleep(0.02)
    document = {"schema": "ghost/possess-stop/v1", "port": found.port, "pid": found.pid}
    output.result(document, f"Proxy stopped on port {found.port}")
    return 0


def _chosen(port: int | None) -> Possess:
    found = [each for each in _alive() if port in (None, each.port)]
    if not found:
        where = "" if port is None else f" on port {port}"
        raise NotFoundError(
            f"no possess of this home runs{where}", code="possess.none", hint="ghost possess"
        )
    if len(found) > 1:
        ports = ", ".join(str(each.port) for each in found)
        raise UnavailableError(
            f"several possess run, on ports {ports}",
            code="possess.several",
            hint="ghost possess --stop --port PORT",
        )
    return found[0]


def port_of(configured: int) -> int:
    """Return the port of the only running possess, else the configured one."""
    ports = [each.port for each in _alive()]
    return ports[0] if len(ports) == 1 else configured


def _alive() -> list[Possess]:
    """Return what runs for this home; notes of the dead are removed."""
    root, found = str(ghost_home().root), []
    for note, each in notes(runtime_dir()):
        if each is None:
            continue
        if not each.runs():
            note.unlink(missing_ok=True)
        elif each.home == root:
            found.append(each)
    return found


def notes(folder: Path) -> Iterator[tuple[Path, Possess | None]]:
    """Yield each note in a runtime folder, of any home, and what it says; None if it is damaged."""
    for note in sorted(folder.glob("possess-*.json")):
        try:
            document = json.loads(note.read_bytes())
            each = Possess(
                pid=int(document["pid"]),
                port=int(document["port"]),
                started=int(document["started"]),
                home=str(document["home"]),
            )
        except (OSError, ValueError, TypeError, KeyError):
            yield note, None
        else:
            yield note, each


def _started(pid: int) -> int:
    """Return when a process began; 0 if it does not run (any more)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return _exists(pid)
    state, *rest = text.rpartition(")")[2].split()
    return 0 if state == "Z" else int(rest[18])


def _exists(pid: int) -> int:
    """Return 1 for a living process where there is no /proc."""
    if Path("/proc/self").exists():
        return 0
    try:
        os.kill(pid, 0)
    except OSError:
        return 0
    return 1


def require_free(host: str, port: int, command: str = "ghost possess") -> None:
    """Fail early where somebody listens: the engine takes a second to load and would find the same.

    Raises UnavailableError `port.busy`.
    """
    if port == 0:
        return
    address = "127.0.0.1" if host == "localhost" else host
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return  # the engine explains what is wrong with the address
            raise _busy(port, command) from error


def _busy(port: int, command: str) -> UnavailableError:
    """Name who listens if it is a possess of this home: nobody else is stopped by `--stop`."""
    ours = any(each.port == port for each in _alive())
    return UnavailableError(
        f"port {port}: in use by {'a possess of this home' if ours else 'another process'}",
        code="port.busy",
        hint=(f"stop it: ghost possess --stop --port {port}, or " if ours else "")
        + f"choose another port: {command} --port PORT",
    )


def first_object(child: subprocess.Popen[bytes], *, seconds: float) -> dict[str, object] | None:
    """Return the JSON object that a child prints; None if it ends or the time is over before."""
    if child.stdout is None:
        return None
    end, printed = time.monotonic() + seconds, b""
    with child.stdout as stream:
        while (left := end - time.monotonic()) > 0:
            if not select.select([stream], [], [], left)[0]:
                break
            part = os.read(stream.fileno(), _PART_BYTES)
            printed += part
            if not part:
                return _object(printed)
            # Only a whole line: a child that is still writing would lose its reader.
            if printed.endswith(b"\n") and (found := _object(printed)) is not None:
                return found
    return None


def last_error(text: bytes) -> GhostError | None:
    """Return the last error object in what a child wrote on stderr, as the error that it was."""
    from ghost_ledger.session.messages import revive

    found = [each for line in text.splitlines() if (each := _object(line)) is not None]
    errors = [each for each in found if each.get("schema") == output.ERROR_SCHEMA]
    return revive(errors[-1]) if errors else None


def _object(text: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
