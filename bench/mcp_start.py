"""How long `ghost mcp` takes to its first answer, against a bare server on the same SDK, and what it holds.

usage: python bench/mcp_start.py [ROUNDS]

Both are started in turn, so that whatever else the machine does hits both alike; medians. Only the ratio
carries over to another machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

BARE = """\
from mcp.server import MCPServer
server = MCPServer("bare", version="1")
@server.tool()
def hello(name: str) -> str:
    "Say hello."
    return name
server.run()
"""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
CALLS = {
    "tools/list": {},
    "first save": {
        "name": "ghost_memory_save",
        "arguments": {"project_id": "bench", "content": "the port is 8402"},
    },
    "search": {
        "name": "ghost_memory_search",
        "arguments": {"project_id": "bench", "query": "which port"},
    },
}


@dataclass(slots=True)
class Start:
    """One start: seconds and processor seconds to the first answer, memory held, and what followed."""

    seconds: float
    processor: float
    idle_mb: float
    calls: dict[str, float] = field(default_factory=dict)
    used_mb: float = 0.0
    end: float = 0.0


def main() -> None:
    """Start both in turn and print the medians."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory(prefix="ghost-bench-") as home:
        bare, ours = [], []
        for _ in range(rounds):
            bare.append(start(["-c", BARE], Path(home), calls={}))
            ours.append(start(["-m", "ghost_cli", "mcp"], Path(home), calls=CALLS))
    print(f"| {rounds} rounds | bare | ghost mcp | ratio |\n|---|---:|---:|---:|")
    row("first answer, s", bare, ours, lambda each: each.seconds)
    row("processor to it, s", bare, ours, lambda each: each.processor)
    row("memory when idle, MB", bare, ours, lambda each: each.idle_mb)
    row("end after the client, s", bare, ours, lambda each: each.end)
    for name in CALLS:
        print(f"| {name}, s | | {median(each.calls[name] for each in ours):.3f} | |")
    print(f"| memory after calls, MB | | {median(each.used_mb for each in ours):.0f} | |")


def row(
    name: str, bare: Sequence[Start], ours: Sequence[Start], of: Callable[[Start], float]
) -> None:
    """Print one line of the table."""
    one, two = median(map(of, bare)), median(map(of, ours))
    print(f"| {name} | {one:.2f} | {two:.2f} | {two / one:.2f} |")


def start(words: Sequence[str], home: Path, *, calls: Mapping[str, Mapping[str, object]]) -> Start:
    """Start a server, greet it, call it, leave it."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "GHOST_HOME": str(home)},
    )
    ask(process, "initialize", HELLO)
    made = Start(time.perf_counter() - began, processor(process.pid), resident(process.pid))
    say(process, {"method": "notifications/initialized"})
    for name, params in calls.items():
        before = time.perf_counter()
        ask(process, name if "/" in name else "tools/call", params)
        made.calls[name] = time.perf_counter() - before
    made.used_mb = resident(process.pid)
    before = time.perf_counter()
    process.communicate(timeout=30)
    made.end = time.perf_counter() - before
    return made


def ask(process: subprocess.Popen[bytes], method: str, params: Mapping[str, object]) -> None:
    """Send a request and wait for the line that answers it."""
    say(process, {"id": 1, "method": method, "params": params})
    assert process.stdout is not None
    assert b'"result"' in process.stdout.readline()


def say(process: subprocess.Popen[bytes], message: Mapping[str, object]) -> None:
    """Write one message."""
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def processor(pid: int) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    (line,) = (each for each in status.splitlines() if each.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
