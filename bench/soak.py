"""Runs one `ghost possess` for long and watches its memory: calls, websocket frames, large bodies.

usage: python bench/soak.py [--calls 20000] [--frames 100000] [--megabytes 50] [--save]

Each step runs a tenth of itself first, so that what is loaded once does not count as growth.
"""

from __future__ import annotations

import argparse
import os
import ssl
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from websockets.sync.client import connect

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from run import HERE, heading

from support.agent import Tunnel, secure_connect
from support.certs import make_certs
from support.home import GhostHome, ghost_home
from support.processes import possess, succeed
from support.upstream import Upstream

CLIENTS = 8
BURST = 200
PIECE = b"x" * 50_000


@dataclass(frozen=True, slots=True)
class Place:
    """A running proxy, its upstream, and how an agent enters."""

    home: GhostHome
    up: Upstream
    pid: int
    auth: tuple[str, str]

    @property
    def ca(self) -> Path:
        """What the agent trusts."""
        return self.home.root / "ca" / "ghost-ca-cert.pem"

    def tunnel(self) -> Tunnel:
        """Open a tunnel to the upstream."""
        return secure_connect(self.home.port, self.up.authority, self.auth, ca=self.ca)

    def resident_mb(self) -> float:
        """Return the memory of the proxy that is in use."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Run the steps and print a table."""
    words = arguments()
    steps: list[tuple[str, Callable[[Place, int], None], int]] = [
        ("calls on 8 kept connections", calls, words.calls),
        ("websocket frames, echoed", frames, words.frames),
        ("megabytes down", down, words.megabytes),
        ("megabytes up", up, words.megabytes),
    ]
    with place() as found:
        rows = [row(found, *step) for step in steps]
    text = "\n".join([f"## soak: {heading(1)}", "", *table(rows), ""])
    print(text)
    if words.save:
        with (HERE / "results.md").open("a", encoding="utf-8") as into:
            into.write("\n" + text)


@contextmanager
def place() -> Iterator[Place]:
    """Start upstream and proxy with `record = all`, and spawn a session."""
    with tempfile.TemporaryDirectory(prefix="ghost-soak-") as name:
        folder = Path(name)
        (folder / "certs").mkdir()
        certs = make_certs(folder / "certs")
        proxy = {"record": "all"}
        with Upstream(certs) as upstream, ghost_home(folder, upstream, certs, proxy=proxy) as home:
            words = ("--intent", "soak", "--scope", "demo_api", "--ttl", "3600")
            made = succeed(home, "spawn", *words, timeout=30).json
            with possess(home) as running:
                auth = (made["session_id"], made["token"])
                yield Place(home, upstream, running.process.pid, auth)


def row(
    found: Place, name: str, step: Callable[[Place, int], None], size: int
) -> tuple[str, int, float, float]:
    """Warm up, run, and return the resident megabytes before and after."""
    step(found, max(1, size // 10))
    before = found.resident_mb()
    step(found, size)
    return name, size, before, found.resident_mb()


def table(rows: list[tuple[str, int, float, float]]) -> list[str]:
    """Write the rows as Markdown."""
    lines = ["| what | how many | MB before | MB after | grown |", "|---|--:|--:|--:|--:|"]
    for name, size, before, after in rows:
        lines.append(f"| {name} | {size} | {before:.1f} | {after:.1f} | {after - before:+.1f} |")
    return lines


def calls(found: Place, count: int) -> None:
    """Make small calls from several clients at once."""
    threads = [
        threading.Thread(target=_call, args=(found, count // CLIENTS)) for _ in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _call(found: Place, count: int) -> None:
    with found.tunnel() as tunnel:
        for _ in range(count):
            answer = tunnel.request("POST", "/echo", {"Host": found.up.authority}, PIECE[:1000])
            if answer.status != 200:
                os._exit(1)  # a thread cannot fail the program otherwise


def frames(found: Place, count: int) -> None:
    """Send frames to an echo and read them back, a burst at a time."""
    context = ssl.create_default_context(cafile=str(found.ca))
    proxy = "http://{}:{}@127.0.0.1:{}".format(*found.auth, found.home.port)
    url = f"wss://{found.up.authority}/ws"
    with connect(url, ssl=context, proxy=proxy, compression=None) as socket:
        for start in range(0, count, BURST):
            burst = range(start, min(start + BURST, count))
            for number in burst:
                socket.send(f"frame {number}")
            if [socket.recv(timeout=60) for _ in burst] != [f"frame {each}" for each in burst]:
                raise SystemExit("frames came back as others")


def down(found: Place, megabytes: int) -> None:
    """Fetch a body in one answer, piece by piece."""
    size = megabytes * 1_000_000
    with found.tunnel() as tunnel:
        tunnel.begin("GET", f"/bytes/{size}", {"Host": found.up.authority})
        if sum(len(piece.data) for piece in tunnel.chunks(tunnel.head())) != size:
            raise SystemExit("bytes are missing")


def up(found: Place, megabytes: int) -> None:
    """Send a body in one request, piece by piece."""
    size = megabytes * 1_000_000
    with found.tunnel() as tunnel:
        headers = {"Host": found.up.authority, "Content-Length": str(size)}
        tunnel.begin("POST", "/status/200", headers)
        for _ in range(size // len(PIECE)):
            tunnel.send(PIECE)
        if tunnel.answer().status != 200:
            raise SystemExit("the upload was refused")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--save", action="store_true", help="append to bench/results.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
