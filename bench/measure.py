"""Runs one slice of one test against one peer, and takes the processor time of its processes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ghost_peer import PLACEHOLDER
from process import LOAD_CORE, Files, Peer, pinned

HERE = Path(__file__).parent
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Test:
    """One kind of load; `requests` is the size of a slice."""

    name: str
    requests: int
    connections: int
    fresh: bool = False
    stream: bool = False


TESTS = (
    Test("keep-alive, 8 connections", 600, 8),
    Test("keep-alive, 1 connection", 150, 1),
    Test("keep-alive, 32 connections", 960, 32),
    Test("new connection per call, 4 at once", 60, 4, fresh=True),
    Test("first event of a stream", 20, 1, stream=True),
)


@dataclass(frozen=True, slots=True)
class Slice:
    """The figures of one slice; `cpu_us` is per request, zero without a proxy."""

    rps: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    cpu_us: float
    failures: int
    reason: str = ""


def measure(test: Test, peer: Peer, files: Files, body: str) -> Slice:
    """Run one slice."""
    path = "/sse" if test.stream else "/echo"
    words = [
        *("--url", f"https://{files.authority}{path}", "--ca", str(peer.ca)),
        *("--proxy", peer.proxy, "--auth", peer.auth, "--bearer", PLACEHOLDER),
        *("--requests", str(test.requests), "--connections", str(test.connections)),
        *("--body", "" if test.stream else body),
        *(["--fresh"] if test.fresh else []),
        *(["--stream"] if test.stream else []),
    ]
    before = cpu_seconds(peer.pid)
    done = subprocess.run(
        pinned([sys.executable, str(HERE / "load.py"), *words], LOAD_CORE),
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    spent = cpu_seconds(peer.pid) - before
    found = json.loads(done.stdout)
    return Slice(
        rps=found["rps"],
        p50_ms=found["p50_ms"],
        p95_ms=found["p95_ms"],
        p99_ms=found["p99_ms"],
        cpu_us=spent / max(found["requests"], 1) * 1e6,
        failures=found["failures"],
        reason=found["reason"],
    )


def median(slices: list[Slice]) -> Slice:
    """Return the median of every figure; failures are added up."""
    names = ("rps", "p50_ms", "p95_ms", "p99_ms", "cpu_us")
    middle = {name: statistics.median(getattr(each, name) for each in slices) for name in names}
    reason = next((each.reason for each in slices if each.reason), "")
    return Slice(**middle, failures=sum(each.failures for each in slices), reason=reason)


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and its living descendants; 0 for no process."""
    if not pid:
        return 0.0
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        parents[number] = int(fields[1])
        spent[number] = sum(int(value) for value in fields[11:15]) * TICK_SECONDS
    return sum(spent[each] for each in spent if _below(each, pid, parents))


def _below(number: int, pid: int, parents: dict[int, int]) -> bool:
    while number not in {0, 1}:
        if number == pid:
            return True
        number = parents.get(number, 0)
    return False
