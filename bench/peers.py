"""What the bench compares: no proxy, mitmdump, proxy.py, and `ghost possess` in two settings.

Stock is `mitmdump` without any option: it prints a line for each call, here into a file. `mitmdump -q`, which
prints nothing, stands beside it.

Each peer starts in its own process group, pinned to one core where `taskset` exists. A peer that cannot
be installed or started is named as skipped, never dropped in silence.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

from ghost_peer import Start, ghost
from process import Files, Peer, SkippedError, free_port, running

from ghost_addons import ca


def direct(files: Files, _: contextlib.ExitStack) -> Peer:
    """No proxy at all."""
    return Peer("direct", 0, "", files.upstream_ca)


def mitmdump(name: str, *words: str) -> Start:
    """Run mitmdump as it is installed, without addons of ours; what it prints goes to a file."""

    def start(files: Files, stack: contextlib.ExitStack) -> Peer:
        port, confdir = free_port(), files.out / f"confdir{len(words)}"
        command = [
            str(Path(sys.executable).with_name("mitmdump")),
            *words,
            *("--listen-host", "127.0.0.1", "-p", str(port)),
            *("--set", f"confdir={confdir}"),
            *("--set", f"ssl_verify_upstream_trusted_ca={files.upstream_ca}"),
        ]
        process = stack.enter_context(running(name, command, port, files))
        trusted = confdir / "mitmproxy-ca-cert.pem"
        return Peer(name, process.pid, f"127.0.0.1:{port}", trusted)

    return start


def proxy_py(files: Files, stack: contextlib.ExitStack) -> Peer:
    """proxy.py with TLS interception, one worker, in a venv of its own."""
    program = _install_proxy_py(files.kept / "proxy.py")
    authority = ca.ensure(files.out / "proxy.py" / "ca")
    port = free_port()
    command = [
        str(program),
        *("--hostname", "127.0.0.1", "--port", str(port)),
        *("--num-workers", "1", "--num-acceptors", "1", "--log-level", "ERROR"),
        *("--ca-key-file", str(authority.key_file)),
        *("--ca-cert-file", str(authority.certificate_file)),
        *("--ca-signing-key-file", str(authority.key_file)),
        *("--ca-cert-dir", str(files.out / "proxy.py" / "leaves")),
        *("--ca-file", str(files.upstream_ca)),
    ]
    process = stack.enter_context(running("proxy.py", command, port, files))
    return Peer("proxy.py", process.pid, f"127.0.0.1:{port}", authority.certificate_file)


PEERS: dict[str, Start] = {
    "direct": direct,
    "mitmdump": mitmdump("mitmdump (stock)"),
    "mitmdump-q": mitmdump("mitmdump -q", "-q"),
    "proxy.py": proxy_py,
    "ghost": ghost("headers"),
    "ghost-full": ghost("full"),
}


def _install_proxy_py(folder: Path) -> Path:
    program = folder / "venv" / "bin" / "proxy"
    if program.exists():
        return program
    try:
        subprocess.run(
            [sys.executable, "-m", "venv", str(folder / "venv")],
            check=True,
            capture_output=True,
            timeout=120,
        )
        subprocess.run(
            [str(folder / "venv" / "bin" / "pip"), "install", "-q", "proxy.py"],
            check=True,
            capture_output=True,
            timeout=180,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SkippedError(f"proxy.py: cannot be installed, {error}") from error
    return program
