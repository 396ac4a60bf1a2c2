"""Witnesses of a test: in memory folders of their own, and served on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ghost_core.clock import Clock, SystemClock
from ghost_core.paths import Home
from ghost_ledger import bundle
from ghost_ledger.cosignature import WitnessKey, cosign
from ghost_ledger.note import Vkey
from ghost_ledger.tree import consistency_proof
from ghost_ledger.witness.kept import Kept
from ghost_ledger.witness.request import encode_request
from ghost_ledger.witness.server import WitnessServer
from ghost_ledger.witness.witness import Witness
from support.bundles import Log, Session, key
from support.ledger import open_recorder


def witness(
    folder: Path, logs: Sequence[Vkey], *, name: str = "", clock: Clock | None = None
) -> Witness:
    """Open the witness of a home folder."""
    return Witness.open(Home(folder).ensure(), logs, clock or SystemClock(), name=name)


def asking(log: Log, old: int, size: int | None = None) -> bytes:
    """Return the honest request for a head of a log, from an old size on."""
    end = len(log.leaves) if size is None else size
    proof = consistency_proof(log.leaves[:end], old, end) if 0 < old <= end else ()
    return encode_request(old, proof, log.head(end))


@contextmanager
def served(found: Witness) -> Iterator[int]:
    """Serve a witness on loopback; yields the port."""
    server = WitnessServer(("127.0.0.1", 0), found)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def cosigned_head(log: Log, *numbers: int, seconds: int = 1_790_000_000) -> bytes:
    """Return the present head of a log with the cosignatures of numbered witnesses."""
    note = log.head()
    text = note.partition(b"\n\n")[0] + b"\n"
    lines = [cosign(key(each), named(each).name, text, seconds) for each in numbers]
    return note + "".join(lines).encode()


def named(number: int) -> WitnessKey:
    """Return the same witness for the same number."""
    return WitnessKey(f"w{number}.witness.test", key(number).public)


def cosigned_bundle(found: Session, *numbers: int) -> bytes:
    """Return the bundle of a finished session under a head that these witnesses signed."""
    head = cosigned_head(found.log, *numbers)
    proofs = [
        found.log.proof(found.notes[at]).replace(found.log.head().decode(), head.decode())
        for at in (0, -1)
    ]
    return bundle.encode(found.bundle(head=head, spawn_proof=proofs[0], seal_proof=proofs[1]))


def policy_text(log: Log | None, numbers: Sequence[int], needed: str = "all") -> bytes:
    """Return a policy of one group of numbered witnesses."""
    lines = [] if log is None else [f"log {log.vkey.format()}"]
    lines += [f"witness w{each} {named(each).format()}" for each in numbers]
    members = " ".join(f"w{each}" for each in numbers)
    lines += [f"group enough {needed} {members}", "quorum enough", ""]
    return "\n".join(lines).encode()


@dataclass(frozen=True, slots=True)
class Serving:
    """A running `ghost witness serve`."""

    process: subprocess.Popen[str]
    document: dict[str, Any]

    @property
    def port(self) -> int:
        return int(self.document["port"])

    @property
    def vkey(self) -> str:
        return str(self.document["vkey"])

    @property
    def setting(self) -> str:
        """The value of it in `ledger.witnesses`."""
        return f"{self.document['url']} {self.vkey}"


@contextmanager
def serving(folder: Path, *words: str, end: signal.Signals = signal.SIGTERM) -> Iterator[Serving]:
    """Run a witness as a process with a home of its own in a folder; it ends with the block."""
    home = folder / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "ghost_cli", "witness", "serve", "--port", "0", "--json", *words],
        env={"PATH": os.defpath, "HOME": str(home), "GHOST_HOME": str(home), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Serving(process, json.loads(_document(process.stdout)))
        process.send_signal(end)
        process.wait(30)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _document(stream: IO[str]) -> str:
    """Read one JSON object, which may stand on several lines."""
    text = ""
    for line in stream:
        text += line
        if line.rstrip() == "}" or (text.startswith("{") and line.rstrip().endswith("}")):
            break
    return text


@contextmanager
def watched(home: Path, folder: Path, *, port: int) -> Iterator[Callable[[], bool]]:
    """Configure a home with a witness that is served here; yields whether a head was cosigned."""
    with open_recorder(home) as recorder:
        log = Vkey.parse(recorder.log_vkey)
    found = witness(folder / "w", [log])
    with served(found) as at:
        (home / "ghost.toml").write_text(
            f'[proxy]\nport = {port}\nallow_private = ["127.0.0.1:{at}"]\n'
            f'[ledger]\nwitnesses = ["http://127.0.0.1:{at} {found.vkey.format()}"]\n',
            "utf-8",
        )
        yield lambda: Kept.of(Home(home)).load(log, [found.vkey]) is not None
