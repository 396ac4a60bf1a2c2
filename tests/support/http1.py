"""The HTTP/1.1 side of the upstream: byte level, so that tests see exactly what arrived."""

from __future__ import annotations

import time
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, override

from support.exchange import Exchange, Headers, Record
from support.link import Link, Reader, parse_headers
from support.websocket import accept

if TYPE_CHECKING:
    from collections.abc import Iterator

BODILESS = {101, 204, 304}


def serve(link: Link) -> None:
    """Answer requests on one connection until either side ends it."""
    reader = Reader(link.sock)
    while not link.stopping.is_set():
        try:
            head = reader.until(b"\r\n\r\n")
        except (EOFError, OSError):
            return
        if not _serve_one(link, reader, head):
            return


def _serve_one(link: Link, reader: Reader, head: bytes) -> bool:
    at = time.monotonic()
    first, headers = parse_headers(head)
    method, _, rest = first.partition(b" ")
    draft = Record(method, rest, headers, b"", link.number, link.alpn, link.sni, head, at)
    body, complete = _body(link, reader, draft)
    record = replace(draft, target=rest.rpartition(b" ")[0], body=body, complete=complete)
    link.record(record)
    if not complete:
        return False
    if (record.header("upgrade") or b"").lower() == b"websocket" and record.path == "/ws":
        accept(link, reader, record)
        return False
    exchange = Http1Exchange(record, link)
    link.find(record.path)(exchange)
    return exchange.keep


def _body(link: Link, reader: Reader, record: Record) -> tuple[bytes, bool]:
    if (record.header("expect") or b"").lower() == b"100-continue":
        link.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = bytearray()
    try:
        for piece in _pieces(reader, record):
            body += piece
            link.count(len(piece))
    except (EOFError, OSError):
        return bytes(body), False
    return bytes(body), True


def _pieces(reader: Reader, record: Record) -> Iterator[bytes]:
    if (record.header("transfer-encoding") or b"").lower().endswith(b"chunked"):
        while size := int(reader.until(b"\r\n").split(b";")[0], 16):
            yield reader.exactly(size)
            reader.exactly(2)
        while reader.until(b"\r\n") != b"\r\n":
            pass
        return
    left = int(record.header("content-length") or b"0")
    while left:
        piece = reader.some(left)
        left -= len(piece)
        yield piece


class Http1Exchange(Exchange):
    """Writes an answer in HTTP/1.1."""

    def __init__(self, record: Record, link: Link) -> None:
        super().__init__(record, stopping=link.stopping, note=link.note)
        self.link = link
        self.keep = (record.header("connection") or b"").lower() != b"close"
        self._chunked = False
        self._silent = record.method == b"HEAD"

    @override
    def start(self, status: int, headers: Headers = (), *, length: int | None = None) -> None:
        """Send the head; without a length the body is chunked."""
        self._silent = self._silent or status in BODILESS
        self._chunked = length is None
        reason = HTTPStatus(status).phrase if status in HTTPStatus else "Status"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
        if self._chunked:
            lines.append("Transfer-Encoding: chunked")
        elif status not in BODILESS:
            lines.append(f"Content-Length: {length}")
        if not self.keep:
            lines.append("Connection: close")
        self.raw("\r\n".join([*lines, "", ""]).encode("latin-1"))

    @override
    def send(self, data: bytes) -> None:
        """Send a piece of the body at once; an empty piece is nothing."""
        if self._silent or not data:
            return
        self.raw(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)

    @override
    def finish(self) -> None:
        """End the body."""
        if self._chunked and not self._silent:
            self.raw(b"0\r\n\r\n")

    @override
    def abort(self) -> None:
        """Cut the connection without a further byte."""
        self.keep = False
        self.link.cut()

    def raw(self, data: bytes) -> None:
        """Write bytes as they are; for routes that answer outside the protocol."""
        self.link.sock.sendall(data)
