"""`ghost possess` as a peer: a home of its own, a session, the product's default scrub, no hooks."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from process import Files, Peer, SkippedError, free_port, running

PLACEHOLDER = "sk_ghost_bench_0000000000000000"
SECRET = "sk_live_bench_1111111111111111"  # noqa: S105  # of the bench's own upstream

type Start = Callable[[Files, contextlib.ExitStack], Peer]


def ghost(payloads: str) -> Start:
    """`ghost possess` with record = all, one bearer credential, default scrub, no hooks."""

    def start(files: Files, stack: contextlib.ExitStack) -> Peer:
        root = Path(tempfile.mkdtemp(prefix="ghost-bench-"))
        stack.callback(shutil.rmtree, root, ignore_errors=True)
        port = free_port()
        environment = _ghost_home(root, files, port, payloads)
        session = _spawn(environment)
        command = [sys.executable, "-m", "ghost_cli", "possess", "--port", str(port)]
        name = f"ghost ({payloads})"
        process = stack.enter_context(running(name, command, port, files, environment))
        ca = root / "home" / "ca" / "ghost-ca-cert.pem"
        auth = f"{session['session_id']}:{session['token']}"
        return Peer(name, process.pid, f"127.0.0.1:{port}", ca, auth)

    return start


def _ghost_home(root: Path, files: Files, port: int, payloads: str) -> dict[str, str]:
    for name in ("home", "run"):
        (root / name).mkdir(mode=0o700)
    key = root / "upstream.key"
    key.write_text(SECRET + "\n", "utf-8")
    key.chmod(0o600)
    config = root / "home" / "ghost.toml"
    config.write_text(
        f"""\
[proxy]
port = {port}
record = "all"
upstream_ca = "{files.upstream_ca}"
allow_private = ["{files.authority}"]
[ledger]
payloads = "{payloads}"
[credentials.bench]
kind = "bearer"
secret = "file:{key}"
hosts = ["{files.authority}"]
placeholder = "{PLACEHOLDER}"
[tools.bench]
credential = "bench"
base_url = "https://{files.authority}"
""",
        "utf-8",
    )
    config.chmod(0o600)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.defpath))
    return {
        "PATH": path,
        "HOME": str(root),
        "LC_ALL": "C.UTF-8",
        "GHOST_HOME": str(root / "home"),
        "XDG_RUNTIME_DIR": str(root / "run"),
    }


def _spawn(environment: dict[str, str]) -> dict[str, str]:
    words = ["spawn", "--intent", "bench", "--ttl", "3600", "--scope", "bench"]
    done = subprocess.run(
        [sys.executable, "-m", "ghost_cli", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise SkippedError(f"ghost: spawn ended with {done.returncode}, {said}")
    session: dict[str, str] = json.loads(done.stdout)
    return session
