"""Witnesses of a test: in memory folders of their own, and served on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ghost_core.clock import Clock, SystemClock
from ghost_core.paths import Home
from ghost_ledger.note import Vkey
from ghost_ledger.tree import consistency_proof
from ghost_ledger.witness.request import encode_request
from ghost_ledger.witness.server import WitnessServer
from ghost_ledger.witness.witness import Witness
from support.bundles import Log


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
