"""Git's own CGI program behind routes of the upstream: repositories over https that demand Basic auth."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from support.agent import program
from support.exchange import Exchange
from support.upstream import Upstream

SECONDS = 60.0
PATHS = ("info/refs", "git-upload-pack", "git-receive-pack", "HEAD")


def serve(up: Upstream, folder: Path, name: str, *, user: str, password: str) -> Path:
    """Make an empty repository and serve it as `/NAME.git`; returns its folder."""
    repository = folder / f"{name}.git"
    git = program("git")
    for words in (
        ["init", "-q", "--bare", "-b", "main", str(repository)],
        ["-C", str(repository), "config", "http.receivepack", "true"],
    ):
        subprocess.run([git, *words], check=True, timeout=SECONDS, capture_output=True)
    expected = b"Basic " + base64.b64encode(f"{user}:{password}".encode())
    backend = _backend(git)

    def answer(exchange: Exchange) -> None:
        if exchange.record.header("authorization") != expected:
            exchange.reply(401, b"who are you?\n", [("WWW-Authenticate", 'Basic realm="git"')])
            return
        _reply(exchange, _run(backend, folder, exchange))

    for path in PATHS:
        up.route(f"/{name}.git/{path}", answer)
    return repository


def _backend(git: str) -> str:
    done = subprocess.run(
        [git, "--exec-path"], check=True, capture_output=True, text=True, timeout=SECONDS
    )
    backend = Path(done.stdout.strip()) / "git-http-backend"
    if not backend.exists():
        pytest.skip("git-http-backend is not installed")
    return str(backend)


def _run(backend: str, folder: Path, exchange: Exchange) -> bytes:
    """Run the program as a web server would (RFC 3875)."""
    record = exchange.record
    variables = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REMOTE_USER": "agent",
        "REQUEST_METHOD": record.method.decode(),
        "PATH_INFO": record.path,
        "QUERY_STRING": record.target.decode("latin-1").partition("?")[2],
        "CONTENT_TYPE": (record.header("content-type") or b"").decode(),
        "CONTENT_LENGTH": str(len(record.body)),
    }
    for name, variable in (
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ):
        if value := record.header(name):
            variables[variable] = value.decode()
    return subprocess.run(
        [backend], env=variables, input=record.body, check=True, timeout=SECONDS,
        capture_output=True,
    ).stdout  # fmt: skip


def _reply(exchange: Exchange, answer: bytes) -> None:
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = [line.partition(": ")[::2] for line in head.decode("latin-1").splitlines()]
    status = next((value for name, value in lines if name == "Status"), "200")
    headers = [(name, value) for name, value in lines if name != "Status"]
    exchange.reply(int(status.split()[0]), body, headers)
