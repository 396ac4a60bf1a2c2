"""Clients that a test drives byte by byte: a tunnel through CONNECT, HTTP/1.1 and HTTP/2 on it.

with raw_connect(port, up.authority, ("gh_1", token)) as tunnel:
    assert tunnel.status == 200
    tunnel.tls(sni="localhost", ca=ca_file)
    answer = tunnel.request("GET", "/echo", {"Host": up.authority})
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import pytest

from support.exchange import WAIT_SECONDS
from support.link import Reader, parse_headers

if TYPE_CHECKING:
    from pathlib import Path

type Auth = tuple[str, str] | str | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a body with its monotonic arrival time in seconds."""

    data: bytes
    at: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer; `head` holds the raw bytes (HTTP/1.1 only)."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    head: bytes = b""
    chunks: tuple[Chunk, ...] = ()

    def header(self, name: str) -> bytes | None:
        """Return the first value of a header, any spelling."""
        wanted = name.lower().encode()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


def authorization(auth: Auth) -> list[tuple[str, str]]:
    """Return the Proxy-Authorization header of (session, token), of a literal value, or none."""
    if auth is None:
        return []
    if isinstance(auth, str):
        return [("Proxy-Authorization", auth)]
    pair = base64.b64encode(":".join(auth).encode()).decode()
    return [("Proxy-Authorization", f"Basic {pair}")]


class Tunnel:
    """A connection to a proxy (or straight to a server); every wait is bounded."""

    def __init__(self, port: int, *, host: str = "127.0.0.1") -> None:
        self.sock: socket.socket = socket.create_connection((host, port), WAIT_SECONDS)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = Reader(self.sock)
        self.connected: Answer | None = None

    @property
    def status(self) -> int:
        """The proxy's status for CONNECT."""
        assert self.connected is not None
        return self.connected.status

    def connect(self, authority: str, auth: Auth = None) -> Answer:
        """Send CONNECT; a refusal comes back with its body."""
        headers = [("Host", authority), *authorization(auth)]
        self.send(_head(f"CONNECT {authority} HTTP/1.1", headers))
        self.connected = self.answer("CONNECT")
        return self.connected

    def tls(
        self,
        *,
        sni: str | None,
        ca: Path | None = None,
        alpn: Sequence[str] = ("http/1.1",),
    ) -> ssl.SSLSocket:
        """Start TLS with a chosen name (None = no SNI); without `ca` nothing is checked."""
        secured = _context(ca, sni, alpn).wrap_socket(self.sock, server_hostname=sni)
        self.sock, self.reader = secured, Reader(secured)
        return secured

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.sock.sendall(data)

    def closed(self) -> bool:
        """Whether the peer ends the connection in time; bytes before the end are dropped."""
        try:
            while self.reader.some(65_536):
                pass
        except TimeoutError:
            return False
        except (EOFError, OSError):
            return True
        return True

    def request(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: bytes = b"",
    ) -> Answer:
        """Send one HTTP/1.1 request and read its answer; a body gets its Content-Length."""
        self.begin(method, target, headers, body)
        return self.answer(method)

    def begin(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: bytes = b"",
    ) -> None:
        """Send one HTTP/1.1 request without reading."""
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
        if body:
            pairs.append(("Content-Length", str(len(body))))
        self.send(_head(f"{method} {target} HTTP/1.1", pairs) + body)

    def answer(self, method: str = "GET") -> Answer:
        """Read one answer to its end; raises EOFError or TimeoutError."""
        head = self.head()
        chunks = tuple(self.chunks(head, method))
        body = b"".join(chunk.data for chunk in chunks)
        return Answer(head.status, head.headers, body, head.head, chunks)

    def head(self) -> Answer:
        """Read the head of an answer; its body is still to come. 100 is passed over."""
        while True:
            raw = self.reader.until(b"\r\n\r\n")
            first, headers = parse_headers(raw)
            status = int(first.split(b" ")[1])
            if status != 100:
                return Answer(status, headers, b"", raw)

    def chunks(self, head: Answer, method: str = "GET") -> Iterator[Chunk]:
        """Yield the body piece by piece as it arrives."""
        tunnelled = method == "CONNECT" and head.status == 200
        if tunnelled or method == "HEAD" or head.status in {101, 204, 304}:
            return
        if (head.header("transfer-encoding") or b"").lower() == b"chunked":
            while size := int(self.reader.until(b"\r\n").split(b";")[0], 16):
                yield Chunk(self.reader.exactly(size), time.monotonic())
                self.reader.exactly(2)
            self.reader.until(b"\r\n")
            return
        length = head.header("content-length")
        left = int(length) if length is not None else -1
        with contextlib.suppress(EOFError) if length is None else contextlib.nullcontext():
            while left:
                piece = self.reader.some(left if left > 0 else 65_536)
                left -= len(piece) if left > 0 else 0
                yield Chunk(piece, time.monotonic())

    def close(self) -> None:
        """Close at once."""
        with contextlib.suppress(OSError):
            self.sock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def raw_connect(
    proxy_port: int, authority: str, auth: Auth = None, *, host: str = "127.0.0.1"
) -> Tunnel:
    """Open a connection to the proxy and send CONNECT; look at `.status` before going on."""
    tunnel = Tunnel(proxy_port, host=host)
    tunnel.connect(authority, auth)
    return tunnel


def secure_connect(
    proxy_port: int,
    authority: str,
    auth: Auth = None,
    *,
    ca: Path | None = None,
    alpn: Sequence[str] = ("http/1.1",),
) -> Tunnel:
    """Open a tunnel and start TLS for the authority's own name; fails unless CONNECT gives 200."""
    tunnel = raw_connect(proxy_port, authority, auth)
    assert tunnel.status == 200, tunnel.connected
    tunnel.tls(sni=authority.rpartition(":")[0].strip("[]"), ca=ca, alpn=alpn)
    return tunnel


def program(name: str) -> str:
    """Return the path of a client program, or skip the test by name if it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run_client(
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: bytes = b"",
    cwd: Path | None = None,
    timeout: float = WAIT_SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    """Run curl, git, node … with exactly this environment (plus PATH); skips if not installed."""
    clean = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", **env}
    return subprocess.run(
        [program(command[0]), *command[1:]],
        env=clean,
        input=stdin,
        cwd=cwd,
        capture_output=True,
        timeout=timeout,
        check=False,
    )


def _context(ca: Path | None, sni: str | None, alpn: Sequence[str]) -> ssl.SSLContext:
    context = (
        ssl.create_default_context(cafile=ca) if ca else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
    context.check_hostname = ca is not None and sni is not None
    context.verify_mode = ssl.CERT_REQUIRED if ca else ssl.CERT_NONE
    context.set_alpn_protocols(list(alpn))
    return context


def _head(first: str, headers: Sequence[tuple[str, str]]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")
