"""The HTTP/2 side of the upstream: the `h2` state machine, a thread per stream."""

from __future__ import annotations

import contextlib
import select
import ssl
import threading
import time
from typing import override

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    DataReceived,
    Event,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import ProtocolError

from support.exchange import WAIT_SECONDS, Exchange, Headers, Record
from support.link import PIECE_BYTES, Link


def serve(link: Link) -> None:
    """Answer the streams of one connection until either side ends it."""
    Http2Server(link).run()


class Http2Server:
    """One connection: reads in its own thread, every stream answers in another."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.state = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self.turn = threading.Condition()
        self._open: dict[int, tuple[float, tuple[tuple[bytes, bytes], ...], bytearray]] = {}

    def run(self) -> None:
        """Read frames until the end."""
        with self.turn:
            self.state.initiate_connection()
            self.flush()
        while not self.link.stopping.is_set():
            try:
                select.select([self.link.sock], [], [], WAIT_SECONDS)
                self._take()
            except (EOFError, OSError, ValueError, ProtocolError):
                return

    def flush(self) -> None:
        """Write what the state machine has queued; the caller holds `turn`."""
        self.link.sock.sendall(self.state.data_to_send())

    def _take(self) -> None:
        with self.turn:
            while data := self._read():
                for event in self.state.receive_data(data):
                    self._see(event)
            self.flush()

    def _read(self) -> bytes:
        # One TLS object must not be read and written at once: reading never blocks under the lock.
        self.link.sock.settimeout(0)
        try:
            data = self.link.sock.recv(PIECE_BYTES)
        except (ssl.SSLWantReadError, BlockingIOError):
            return b""
        finally:
            self.link.sock.settimeout(WAIT_SECONDS)
        if not data:
            raise EOFError
        return data

    def _see(self, event: Event) -> None:
        match event:
            case RequestReceived():
                headers = tuple((bytes(name), bytes(value)) for name, value in event.headers or ())
                self._open[event.stream_id or 0] = (time.monotonic(), headers, bytearray())
            case DataReceived():
                stream, data = event.stream_id or 0, event.data or b""
                self._open[stream][2].extend(data)
                self.link.count(len(data))
                self.state.acknowledge_received_data(event.flow_controlled_length or 0, stream)
            case StreamEnded():
                self._answer(event.stream_id or 0, complete=True)
            case StreamReset() if event.stream_id in self._open:
                self._answer(event.stream_id or 0, complete=False)
            case WindowUpdated():
                self.turn.notify_all()
            case _:
                pass

    def _answer(self, stream: int, *, complete: bool) -> None:
        at, headers, body = self._open.pop(stream)
        pseudo = dict(headers)
        record = Record(
            method=pseudo.get(b":method", b""),
            target=pseudo.get(b":path", b""),
            headers=headers,
            body=bytes(body),
            connection=self.link.number,
            alpn=self.link.alpn,
            sni=self.link.sni,
            head=b"",
            at=at,
            complete=complete,
        )
        self.link.record(record)
        if complete:
            threading.Thread(target=self._run, args=(record, stream), daemon=True).start()

    def _run(self, record: Record, stream: int) -> None:
        with contextlib.suppress(OSError, ProtocolError):
            self.link.find(record.path)(Http2Exchange(record, self, stream))


class Http2Exchange(Exchange):
    """Writes an answer on one stream and keeps to its window."""

    def __init__(self, record: Record, server: Http2Server, stream: int) -> None:
        super().__init__(record, stopping=server.link.stopping, note=server.link.note)
        self._server, self._stream = server, stream

    @override
    def start(self, status: int, headers: Headers = (), *, length: int | None = None) -> None:
        """Send the head."""
        lines = [(":status", str(status)), *((name.lower(), value) for name, value in headers)]
        if length is not None:
            lines.append(("content-length", str(length)))
        with self._server.turn:
            self._server.state.send_headers(self._stream, lines)
            self._server.flush()

    @override
    def send(self, data: bytes) -> None:
        """Send a piece of the body; waits for the client's window."""
        state = self._server.state
        while data and self.record.method != b"HEAD":
            with self._server.turn:
                self._server.turn.wait_for(self._has_window, timeout=WAIT_SECONDS)
                size = min(
                    state.local_flow_control_window(self._stream),
                    state.max_outbound_frame_size,
                    len(data),
                )
                if size <= 0:
                    raise TimeoutError
                state.send_data(self._stream, data[:size])
                self._server.flush()
            data = data[size:]

    def _has_window(self) -> bool:
        return self._server.state.local_flow_control_window(self._stream) > 0

    @override
    def finish(self) -> None:
        """End the stream."""
        with self._server.turn:
            self._server.state.end_stream(self._stream)
            self._server.flush()

    @override
    def abort(self) -> None:
        """Cut the whole connection."""
        self._server.link.cut()
