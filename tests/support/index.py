"""An index of packages over loopback HTTPS, as the simple API in JSON (PEP 691), with wheels made here.

with PackageIndex(certs) as index:
    index.offer("0.2.0")
    Fetcher(certs.ca).get(index.url + "ghost-ledger/", …)
"""

from __future__ import annotations

import hashlib
import io
import json
import ssl
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from support.certs import Certs

FORM = "application/vnd.pypi.simple.v1+json"
PAGE = "/simple/ghost-ledger/"


def wheel(version: str, *, name: str = "ghost-ledger", inside: str | None = None) -> bytes:
    """Return a wheel; `inside` is the version that its metadata names, if it is another one."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        # A fixed time, so that the same wheel has the same bytes in every process.
        info = zipfile.ZipInfo(f"ghost_ledger-{version}.dist-info/METADATA", (2026, 1, 1, 0, 0, 0))
        archive.writestr(
            info, f"Metadata-Version: 2.1\nName: {name}\nVersion: {inside or version}\n"
        )
    return data.getvalue()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing: a client that refuses the certificate is what some tests are about."""


class PackageIndex:
    """Serves one page and its files; `answers` are (status, headers, body) by path and may be set by hand."""

    def __init__(self, certs: Certs) -> None:
        self.files: list[Any] = []
        self.asked: list[tuple[str, str]] = []
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        leaf = certs.leaf("localhost", "127.0.0.1")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(leaf.cert, leaf.key)
        self._server = _Server(("127.0.0.1", 0), self._handler())
        # The handshake belongs into the thread of the request, which closes what fails.
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self.base = f"https://localhost:{self._server.server_address[1]}"
        self.url = f"{self.base}/simple/"

    def offer(self, version: str, data: bytes | None = None, **fields: object) -> bytes:
        """Offer a wheel; `fields` are those of its entry on the page, None leaves one out."""
        data = wheel(version) if data is None else data
        name = f"ghost_ledger-{version}-py3-none-any.whl"
        entry: dict[str, object] = {
            "filename": name,
            "url": f"../../files/{name}",
            "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
            **fields,
        }
        self.files.append({key: value for key, value in entry.items() if value is not None})
        self.answers[f"/files/{name}"] = (200, {}, data)
        page = {"meta": {"api-version": "1.1"}, "name": "ghost-ledger", "files": self.files}
        self.answers[PAGE] = (200, {"Content-Type": FORM}, json.dumps(page).encode())
        return data

    def clear(self) -> None:
        """Offer nothing any more."""
        self.files.clear()
        self.asked.clear()
        self.answers.clear()

    def __enter__(self) -> Self:
        """Start to listen."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the name that http.server calls
                index.asked.append((self.path, self.headers.get("Accept", "")))
                status, headers, body = index.answers.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
