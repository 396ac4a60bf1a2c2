"""The witness over HTTP: one call and one page, bounded in bytes, time and threads."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, Final, override

from ghost_core import log
from ghost_core.errors import GhostError
from ghost_core.version import __version__
from ghost_ledger.witness.deciding import Answer
from ghost_ledger.witness.request import REQUEST_LIMIT
from ghost_ledger.witness.witness import Witness

__all__ = ["PATH", "WitnessServer"]

PATH: Final = "/add-checkpoint"
IDLE_SECONDS: Final = 10.0
"""How long a connection may send nothing, or take nothing of an answer."""
CONNECTION_SECONDS: Final = 60.0
"""How long a connection may last, however busily it sends."""
THREADS: Final = 32
"""How many connections are served at once."""
QUEUE_SECONDS: Final = 0.5
"""How long a further one waits for a place."""
_LATEST: Final = re.compile(r"/([0-9a-f]{64})/checkpoint\Z")
_OK, _MISSING, _METHOD, _LENGTH, _LARGE, _FAILED = 200, 404, 405, 411, 413, 500


class WitnessServer(ThreadingMixIn, TCPServer):
    """Serves one witness on an address until `shutdown`."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], witness: Witness) -> None:
        self.witness = witness
        self._places = threading.BoundedSemaphore(THREADS)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread; where none is free, the client may come again."""
        if not self._places.acquire(timeout=QUEUE_SECONDS):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    @override
    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end, or for as long as one may last."""
        limit = threading.Timer(CONNECTION_SECONDS, _cut, [request])
        limit.daemon = True
        limit.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            limit.cancel()
            self._places.release()

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over a client that broke off; what the witness itself cannot do is answered with 500."""

    def answer(self, body: bytes) -> Answer:
        """Answer an add-checkpoint request."""
        return _safely(lambda: self.witness.add(body))

    def latest(self, origin_hash: str) -> Answer:
        """Answer with the last cosigned head of a log."""

        def found() -> Answer:
            note = self.witness.latest(origin_hash)
            return (
                Answer(_MISSING, "never cosigned\n") if note is None else Answer(_OK, note.decode())
            )

        return _safely(found)


def _safely(ask: Callable[[], Answer]) -> Answer:
    """Answer; a memory that cannot be used is told to the operator's log, not to the client."""
    try:
        return ask()
    except GhostError as error:
        log.events(__name__).error("witness.failed", code=error.code, reason=error.message)
        return Answer(_FAILED, "the witness cannot answer now\n")


def _cut(request: socket.socket) -> None:
    with contextlib.suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """One connection; kept open between requests."""

    server: WitnessServer
    protocol_version = "HTTP/1.1"
    server_version = f"ghost/{__version__}"
    sys_version = ""
    timeout = IDLE_SECONDS
    wbufsize = -1  # an answer is one segment, and does not wait for the client's acknowledgement
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer the one call there is."""
        if self.path != PATH:
            self._refuse(_MISSING, f"POST {PATH}\n")
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            self._refuse(_LENGTH, "expected a length\n")
        elif len(length) > len(str(REQUEST_LIMIT)) or int(length) > REQUEST_LIMIT:
            self._refuse(_LARGE, f"expected at most {REQUEST_LIMIT} bytes\n")
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                self._send(self.server.answer(body))

    def do_GET(self) -> None:
        """Show the last cosigned head of a log."""
        asked = _LATEST.match(self.path)
        if asked is None or "Content-Length" in self.headers:
            self._refuse(_METHOD if self.path == PATH else _MISSING, f"POST {PATH}\n")
        else:
            self._send(self.server.latest(asked[1]))

    def _refuse(self, status: int, reason: str) -> None:
        """Answer and close, since what the client still sends is not read."""
        self.close_connection = True
        self._send(Answer(status, reason))

    def _send(self, answer: Answer) -> None:
        data = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Write no access log; a request may come from anybody."""
