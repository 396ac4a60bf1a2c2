"""An HTTP/2 client on a tunnel, with every header in the test's hands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)

from support.agent import Answer, Chunk, Tunnel

if TYPE_CHECKING:
    from collections.abc import Sequence


class StreamResetError(Exception):
    """The peer reset the stream or ended the connection; `code` is the HTTP/2 error code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"http/2 error {code}")
        self.code = code


class Http2Client:
    """Speaks HTTP/2 on a tunnel whose TLS has negotiated `h2`."""

    def __init__(self, tunnel: Tunnel) -> None:
        self.tunnel = tunnel
        # An attacker's library does not mend what it is given.
        config = H2Configuration(
            header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False
        )
        self.state = H2Connection(config)
        self.state.initiate_connection()
        self.flush()
        self._heads: dict[int, tuple[tuple[bytes, bytes], ...]] = {}
        self._chunks: dict[int, list[Chunk]] = {}
        self._ended: set[int] = set()

    def request(
        self,
        method: str,
        path: str,
        authority: str,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
    ) -> Answer:
        """Send one request and read its answer; raises StreamResetError, TimeoutError."""
        return self.answer(self.begin(method, path, authority, headers, body))

    def begin(
        self,
        method: str,
        path: str,
        authority: str,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
    ) -> int:
        """Send one request without reading (bodies up to 16 KB, names in lower case); returns the stream."""
        stream = self.state.get_next_available_stream_id()
        pseudo = [(":method", method), (":scheme", "https"), (":authority", authority)]
        lines = [*pseudo, (":path", path), *((name.lower(), value) for name, value in headers)]
        self.state.send_headers(stream, lines, end_stream=not body)
        if body:
            self.state.send_data(stream, body, end_stream=True)
        self.flush()
        return stream

    def answer(self, stream: int) -> Answer:
        """Read until the stream has ended."""
        while stream not in self._ended:
            self._read()
        headers = self._heads[stream]
        chunks = tuple(self._chunks.get(stream, ()))
        status = int(dict(headers)[b":status"])
        return Answer(status, headers, b"".join(c.data for c in chunks), chunks=chunks)

    def flush(self) -> None:
        """Write what the state machine has queued."""
        self.tunnel.send(self.state.data_to_send())

    def _read(self) -> None:
        for event in self.state.receive_data(self.tunnel.reader.some(65_536)):
            self._see(event)
        self.flush()

    def _see(self, event: Event) -> None:
        match event:
            case ResponseReceived():
                headers = tuple((bytes(name), bytes(value)) for name, value in event.headers or ())
                self._heads[event.stream_id or 0] = headers
            case DataReceived():
                stream = event.stream_id or 0
                chunk = Chunk(event.data or b"", time.monotonic())
                self._chunks.setdefault(stream, []).append(chunk)
                self.state.acknowledge_received_data(event.flow_controlled_length or 0, stream)
            case StreamEnded():
                self._ended.add(event.stream_id or 0)
            case StreamReset() | ConnectionTerminated():
                raise StreamResetError(int(event.error_code or 0))
            case _:
                pass
