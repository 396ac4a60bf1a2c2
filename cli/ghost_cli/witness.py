"""`ghost witness`: cosign the heads of logs that others keep, so that they can show no two histories."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ghost_cli import output, running, streams
from ghost_cli.pinned import log_keys
from ghost_core.clock import SystemClock
from ghost_core.errors import UnavailableError, UsageError
from ghost_core.paths import home as ghost_home
from ghost_ledger.note import Vkey

if TYPE_CHECKING:
    from ghost_ledger.witness.server import WitnessServer
    from ghost_ledger.witness.witness import Witness

PORT: Final = 9990
_LIST_LIMIT: Final = 1024 * 1024
_ENDINGS: Final = frozenset({signal.SIGTERM, signal.SIGINT})

app = typer.Typer(
    help="Cosign the log heads of others.", no_args_is_help=True, add_completion=False
)


@app.callback()
def witness() -> None:
    """Cosign the log heads of others."""


@app.command()
def serve(
    *,
    log: Annotated[
        list[str] | None,
        typer.Option(help="Key of a log to cosign for, as ghost bundle names it; repeatable."),
    ] = None,
    logs: Annotated[
        Path | None, typer.Option(help="File with more of them, one a line, # for comments.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = PORT,
    name: Annotated[str, typer.Option(help="Name of the key; made of the key itself.")] = "",
) -> int:
    """Answer add-checkpoint requests (C2SP tlog-witness) until SIGTERM.

    The key and the memory of this witness lie in its home: give it one of its own, on another machine
    than the log, and keep it.

    Example: ghost witness serve --log ghost.local/…+1a2b3c4d+AQ…
    """
    from ghost_ledger.witness.witness import Witness

    known = [*log_keys(log or ()), *_listed(logs)]
    if not known:
        raise UsageError(
            "expected the key of a log: --log VKEY, or --logs FILE",
            code="usage.logs",
            hint="ghost bundle prints the key of a log behind --key",
        )
    running.require_free(host, port, "ghost witness serve")
    found = Witness.open(ghost_home().ensure(), known, SystemClock(), name=name)
    with _listening(host, port, found) as server:
        return _until_told(server, found)


def _listed(path: Path | None) -> list[Vkey]:
    """Return the keys of a file; raises NotFoundError, UnavailableError or IntegrityError."""
    if path is None:
        return []
    from ghost_cli import verify

    data = verify.read(path, limit=_LIST_LIMIT).decode("utf-8", "replace")
    lines = (line.strip() for line in data.split("\n"))
    return [Vkey.parse(line) for line in lines if line and not line.startswith("#")]


@contextmanager
def _listening(host: str, port: int, found: Witness) -> Iterator[WitnessServer]:
    from ghost_ledger.witness.server import WitnessServer

    try:
        server = WitnessServer((host, port), found)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "not an address"
        raise UnavailableError(
            f"{host}:{port}: cannot be listened on, {reason}", code="port.unusable"
        ) from error
    with server:
        yield server


def _until_told(server: WitnessServer, found: Witness) -> int:
    """Serve until a signal; what is remembered by then is on disk, whoever did not get his answer."""
    # Blocked before the thread starts, so that nobody but this wait takes them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="ghost-witness")
    thread.start()
    try:
        _announce(server, found)
        told = signal.sigwait(_ENDINGS)
    finally:
        server.shutdown()
        thread.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return 0 if told == signal.SIGTERM else 128 + told


def _announce(server: WitnessServer, found: Witness) -> None:
    host, port = server.server_address[:2]
    shown = f"[{host!s}]" if ":" in str(host) else str(host)
    url, vkey = f"http://{shown}:{port}", found.vkey.format()
    document: dict[str, object] = {
        "schema": "ghost/witness/v1",
        "url": url,
        "port": port,
        "vkey": vkey,
        "logs": sorted(found.logs),
        "pid": os.getpid(),
    }
    lines = (
        f"Witness on {url} for {', '.join(sorted(found.logs))}",
        f"key: {vkey}",
        f'in the ghost.toml of a log: witnesses = ["{url} {vkey}"]',
        f"in a policy: witness {_word(found.vkey.name)} {vkey}",
    )
    output.result(document, "\n".join(lines))
    streams.flush()


def _word(name: str) -> str:
    """Return a short name for a policy, made of the key's."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name)
