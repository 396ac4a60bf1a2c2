"""Compares proxies on this machine: short slices in rotation, medians, one table per test.

usage: python bench/run.py [--peers direct,mitmdump,ghost] [--rounds 5] [--quick] [--save]

Absolute figures depend on the machine and on what else runs; the ratios are the result.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from measure import TESTS, Slice, Test, measure, median
from peers import PEERS
from process import LOAD_CORE, Files, Peer, SkippedError, free_port, running
from upstream import BODY

from ghost_cli.demo import certificate

HERE = Path(__file__).parent
BASE = "mitmdump (stock)"

type Results = dict[tuple[str, str], list[Slice]]


def main() -> None:
    """Run everything and write the tables."""
    words = arguments()
    # A plain SIGTERM would leave the proxies running: end through the exit stack instead.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tests = [replace(test, requests=test.requests // 3) if words.quick else test for test in TESTS]
    with contextlib.ExitStack() as stack:
        files = start_upstream(stack)
        peers, skipped = start_peers(words.peers.split(","), files, stack)
        results = rotate(peers, tests, files, words.rounds)
    text = report(peers, tests, results, skipped, words.rounds)
    print(text)
    if words.save:
        with (HERE / "results.md").open("a", encoding="utf-8") as into:
            into.write(text + "\n")


def start_upstream(stack: contextlib.ExitStack) -> Files:
    """Start the upstream with a certificate of its own."""
    kept = HERE / "out"
    kept.mkdir(exist_ok=True)
    (kept / ".gitignore").write_text("*\n", "utf-8")
    out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ghost-bench-")))
    made = certificate.make(out)
    port = free_port()
    files = Files(kept, out, port, made.certificate_file)
    command = [sys.executable, str(HERE / "upstream.py"), str(port)]
    command += [str(made.certificate_file), str(made.key_file)]
    stack.enter_context(running("upstream", command, port, files, core=LOAD_CORE))
    return files


def start_peers(
    names: list[str], files: Files, stack: contextlib.ExitStack
) -> tuple[list[Peer], list[str]]:
    """Start every named peer; what cannot start comes back as text."""
    peers: list[Peer] = []
    skipped: list[str] = []
    for name in names:
        try:
            peers.append(PEERS[name](files, stack))
        except SkippedError as error:
            skipped.append(str(error))
    return peers, skipped


def rotate(peers: list[Peer], tests: list[Test], files: Files, rounds: int) -> Results:
    """Measure in rotation, so that what else the machine does hits every peer alike."""
    results: Results = {}
    for test in tests:
        for peer in peers:
            measure(replace(test, requests=max(8, test.requests // 10)), peer, files, BODY.decode())
        for number in range(rounds):
            shift = number % len(peers)
            for peer in peers[shift:] + peers[:shift]:
                found = measure(test, peer, files, BODY.decode())
                results.setdefault((test.name, peer.name), []).append(found)
    return results


def report(
    peers: list[Peer], tests: list[Test], results: Results, skipped: list[str], rounds: int
) -> str:
    """Write the tables as Markdown."""
    parts = [f"## {heading(rounds)}", ""]
    for test in tests:
        rows = {peer.name: median(results[test.name, peer.name]) for peer in peers}
        parts += [f"### {test.name}, {test.requests} calls per slice", "", *table(rows), ""]
    parts += [f"Skipped: {text}" for text in skipped]
    return "\n".join(parts)


def heading(rounds: int) -> str:
    """Say when, which commit, and on what."""
    commit = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=5,
        check=False,
    ).stdout.strip()
    day = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    python = platform.python_version()
    load = os.getloadavg()[0]
    machine = f"{os.cpu_count()} cores, load {load:.1f}, Python {python}"
    return f"{day}, {commit or 'no commit'}, {machine}, medians of {rounds} rounds"


def table(rows: dict[str, Slice]) -> list[str]:
    """Compare with stock mitmdump where it ran, and with no proxy for what a call costs more."""
    base, plain = rows.get(BASE), rows.get("direct")
    lines = [
        "| proxy | req/s | x stock | CPU us/req | p50 ms | added p50 ms | p95 ms | p99 ms | failed |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, row in rows.items():
        ratio = f"{row.rps / base.rps:.2f}" if base and base.rps else "–"
        added = f"{row.p50_ms - plain.p50_ms:.2f}" if plain else "–"
        lines.append(
            f"| {name} | {row.rps:.0f} | {ratio} | {row.cpu_us:.0f} | {row.p50_ms:.2f} | {added} "
            f"| {row.p95_ms:.2f} | {row.p99_ms:.2f} | {row.failures} {row.reason} |"
        )
    return lines


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers", default=",".join(PEERS), help="comma-joined: " + ", ".join(PEERS)
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a third of the calls per slice")
    parser.add_argument("--save", action="store_true", help="append to bench/results.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
