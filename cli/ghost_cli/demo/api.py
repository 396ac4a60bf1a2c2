"""The demo's payment API: HTTPS on loopback, a bearer key, and a memory of who called with what."""

from __future__ import annotations

import contextlib
import hmac
import json
import socket
import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self, override

if TYPE_CHECKING:
    from ghost_cli.demo.certificate import Certificate
    from ghost_core.secret import SecretBytes

EVENTS = 5
GAP_SECONDS = 0.1
EMPTY_REPOSITORY = "/v1/empty.git"
_BODY_BYTES = 65_536
_ADVERTISED = b"# service=git-upload-pack\n"
# git's smart protocol: one service line, then no refs at all, each in its own packet lines.
_NO_REFS = b"%04x%s0000" % (len(_ADVERTISED) + 4, _ADVERTISED) + b"0000"


@dataclass(frozen=True, slots=True)
class Call:
    """What the API saw: method, path, and whether the key was the real one."""

    method: str
    path: str
    authorised: bool


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    disable_nagle_algorithm = True
    api: Api

    def do_GET(self) -> None:  # the standard library's name
        if not self._admitted():
            return
        match self.path:
            case "/v1/balance":
                self._reply(200, {"available": 95_800, "currency": "eur"})
            case "/v1/feed":
                self._feed()
            case "/v1/whoami":
                self._reply(200, {"you_sent": self.headers.get("Authorization", "")})
            case path if path.startswith(f"{EMPTY_REPOSITORY}/info/refs"):
                self._send(200, "application/x-git-upload-pack-advertisement", _NO_REFS)
            case _:
                self._reply(404, {"error": "no such resource"})

    def do_POST(self) -> None:
        size = min(int(self.headers.get("Content-Length") or 0), _BODY_BYTES)
        body = self.rfile.read(size)
        if self._admitted():
            self._reply(201, {"id": "pay_1", "received_bytes": len(body)})

    def do_DELETE(self) -> None:
        if self._admitted():
            self._reply(200, {"refunded": self.path})

    def _admitted(self) -> bool:
        authorised = self.api.knows(self.headers.get("Authorization", ""))
        self.api.remember(Call(self.command, self.path, authorised))
        if not authorised:
            self._reply(401, {"error": "wrong key"})
        return authorised

    def _reply(self, status: int, document: dict[str, object]) -> None:
        self._send(status, "application/json", json.dumps(document).encode())

    def _send(self, status: int, media: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _feed(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(EVENTS):
            if number:
                self.api.stopping.wait(GAP_SECONDS)
            event = b'data: {"payment": %d}\n\n' % number
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: the demo tells what happened."""


class _Server(ThreadingHTTPServer):
    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent: a cut connection is part of the demo."""


class _Server6(_Server):
    address_family = socket.AF_INET6


class Api:
    """Serves in threads of this process until the block ends; `calls` is what it saw."""

    def __init__(self, certificate: Certificate, key: SecretBytes) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate.certificate_file, certificate.key_file)
        self._key = key
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._servers: list[_Server] = []
        self.stopping = threading.Event()
        self.port = 0

    @property
    def authority(self) -> str:
        """`localhost:PORT`."""
        return f"localhost:{self.port}"

    @property
    def url(self) -> str:
        """The base URL."""
        return f"https://{self.authority}"

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call so far."""
        with self._lock:
            return tuple(self._calls)

    def knows(self, authorization: str) -> bool:
        """Tell whether the header carries the real key."""
        expected = b"Bearer " + self._key.reveal()
        return hmac.compare_digest(authorization.encode("latin-1", "replace"), expected)

    def remember(self, call: Call) -> None:
        """Keep a call."""
        with self._lock:
            self._calls.append(call)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"api": self})
        self._servers.append(_Server(("127.0.0.1", 0), handler))
        self.port = int(self._servers[0].server_address[1])
        with contextlib.suppress(OSError):  # a machine without IPv6
            self._servers.append(_Server6(("::1", self.port), handler))
        for server in self._servers:
            server.socket = self._context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()
