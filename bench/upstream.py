"""A fast HTTPS upstream for the bench: 1 KB of JSON per request, or an event stream with its clock.

usage: upstream.py PORT CERT KEY
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import time
from typing import cast, override

import uvloop

HEAD_END = b"\r\n\r\n"
EVENTS = 3
GAP_SECONDS = 0.02


def kilobyte() -> bytes:
    """Return a JSON document of exactly 1024 bytes."""
    document = {"id": "x" * 16, "items": [{"n": n, "v": "abcdefgh"} for n in range(30)], "pad": ""}
    document["pad"] = "p" * (1024 - len(json.dumps(document)))
    return json.dumps(document).encode()


BODY = kilobyte()
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
) + BODY
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Server(asyncio.Protocol):
    """One connection; knows just enough HTTP for requests with a Content-Length."""

    def __init__(self, tasks: set[asyncio.Task[None]]) -> None:
        self.buffer = bytearray()
        self.transport = cast("asyncio.Transport", None)
        self._tasks = tasks

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not derived from asyncio's.
        self.transport = cast("asyncio.Transport", transport)

    @override
    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self._request_end()) > 0:
            stream = self.buffer.startswith(b"GET /sse")
            del self.buffer[:end]
            if stream:
                task = asyncio.get_running_loop().create_task(self._stream())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                self.transport.write(ANSWER)

    def _request_end(self) -> int:
        end = self.buffer.find(HEAD_END)
        if end < 0:
            return -1
        head = bytes(self.buffer[:end]).lower()
        mark = head.find(b"content-length:")
        size = int(head[mark + 15 :].split(b"\r\n", 1)[0]) if mark >= 0 else 0
        whole = end + len(HEAD_END) + size
        return whole if len(self.buffer) >= whole else -1

    async def _stream(self) -> None:
        self.transport.write(STREAM)
        for number in range(EVENTS):
            await asyncio.sleep(GAP_SECONDS)
            event = b'data: {"i": %d, "ns": %d}\n\n' % (number, time.monotonic_ns())
            self.transport.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.transport.write(b"0\r\n\r\n")


async def main(port: int, cert: str, key: str) -> None:
    """Serve on loopback until the process ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.set_alpn_protocols(["http/1.1"])
    tasks: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()
    servers = [
        await loop.create_server(lambda: Server(tasks), address, port, ssl=context)
        for address in ("127.0.0.1", "::1")
    ]
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
