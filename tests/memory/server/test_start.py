"""How the server begins and ends; what it answers in between is told in test_stdio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ghost_memory.server import start
from ghost_memory.server.service import Service
from ghost_memory.server.streams import Streams
from support.mcp import called, initialize
from support.memory import Store


@contextmanager
def pipes() -> Iterator[tuple[Streams, int, int]]:
    """Yield the server's two ends, and the client's: where to write, where to read."""
    source, writes = os.pipe()
    reads, sink = os.pipe()
    try:
        yield Streams(source, sink), writes, reads
    finally:
        for each in (source, sink, reads):
            os.close(each)


def test_a_server_in_this_process_serves_and_closes_the_store(
    service: Service, memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "_end_soon", lambda: None)  # the test goes on after the server
    monkeypatch.setattr(start, "_settle", lambda: None)
    lines = [initialize(0), called(1, "ghost_memory_save", project_id="app", content="x")]
    with pipes() as (streams, writes, reads):
        os.write(writes, b"".join(json.dumps(each).encode() + b"\n" for each in lines))
        os.close(writes)
        running = threading.Thread(target=start.on_stdio, args=(service.open, streams))
        running.start()
        running.join(30)
        assert not running.is_alive()
        answers = os.read(reads, 1_000_000).splitlines()
    assert {json.loads(line)["id"] for line in answers} == {0, 1}
    assert memory.rows("SELECT count(*) FROM memories") == [1]


def test_a_process_that_will_not_end_is_ended() -> None:
    program = (
        "import threading, time\n"
        "from ghost_memory.server import start\n"
        "start.END_SECONDS = 0.1\n"
        "start._end_soon()\n"
        "time.sleep(60)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=30, check=False)
    assert done.returncode == 0
