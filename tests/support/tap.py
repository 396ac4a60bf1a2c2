"""An upstream that keeps every byte and reads it strictly; it answers each whole request with `ok`."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import override

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamEnded, TrailersReceived
from h2.exceptions import ProtocolError

from support.certs import Certs
from support.strict import AmbiguousError, Message, read
from support.upstream import Upstream

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n"


@dataclass(slots=True)
class Wire:
    """All that came over one connection: bytes, the requests in them, and what was wrong with them."""

    data: bytes = b""
    messages: list[Message] = field(default_factory=list)
    rest: bytes = b""
    fault: str = ""
    begun: bool = False
    streams: dict[int, Message] = field(default_factory=dict)


class Tap(Upstream):
    """An upstream of HTTP/1.1 or HTTP/2; `look` is told the head of each request the moment it is there."""

    def __init__(self, certs: Certs | None, *, newer: bool = False) -> None:
        super().__init__(certs, alpn=("h2",) if newer else ("http/1.1",))
        self.newer = newer
        self.look: Callable[[bytes], None] = lambda _: None
        self._wires: list[Wire] = []
        self._open = 0

    def take(self) -> list[Wire]:
        """Return what came since the last time, once every connection is closed."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open, timeout=5)
            taken, self._wires = self._wires, []
        return taken

    @override
    def _serve(self, sock: socket.socket, number: int) -> None:
        sock.settimeout(10)
        wire = Wire()
        with self._changed:
            self._open += 1
            self._wires.append(wire)
        try:
            if self._context is not None:
                sock = self._context.wrap_socket(sock, server_side=True)
            if self.newer:
                self._listen2(sock, wire)
            else:
                self._listen(sock, wire)
        except (OSError, ssl.SSLError):
            pass
        finally:
            with contextlib.suppress(OSError):
                sock.close()
            self._finish(wire)

    def _listen(self, sock: socket.socket, wire: Wire) -> None:
        while piece := sock.recv(65_536):
            wire.data += piece
            wire.rest += piece
            try:
                while self._one(sock, wire):
                    pass
            except AmbiguousError as error:
                wire.fault = str(error)
                return

    def _one(self, sock: socket.socket, wire: Wire) -> bool:
        message, rest = read(wire.rest)
        if message is None:
            return False
        if not wire.begun:
            wire.begun = True
            self.look(message.head)
        if not message.complete:
            return False
        wire.messages.append(message)
        wire.rest, wire.begun = rest, False
        sock.sendall(OK + (b"" if message.method == b"HEAD" else b"ok"))
        return bool(rest)

    def _listen2(self, sock: socket.socket, wire: Wire) -> None:
        state = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        state.initiate_connection()
        try:
            while True:
                sock.sendall(state.data_to_send())
                if not (piece := sock.recv(65_536)):
                    break
                for event in state.receive_data(piece):
                    self._see(state, event, wire)
        except (ProtocolError, AmbiguousError) as error:
            wire.fault = f"HTTP/2: {error}"
        finally:
            wire.messages += wire.streams.values()

    def _see(self, state: H2Connection, event: Event, wire: Wire) -> None:
        number = getattr(event, "stream_id", None) or 0
        match event:
            case RequestReceived():
                wire.streams[number] = message = request_of(event.headers or ())
                wire.data += b"".join(
                    name + b": " + value + b"\r\n" for name, value in message.headers
                )
                self.look(b"\r\n" + wire.data)
            case DataReceived():
                old = wire.streams[number]
                wire.data += event.data or b""
                wire.streams[number] = replace(old, body=old.body + (event.data or b""))
                state.acknowledge_received_data(event.flow_controlled_length or 0, number)
            case TrailersReceived():
                raise AmbiguousError("trailers")
            case StreamEnded():
                wire.streams[number] = replace(wire.streams[number], complete=True)
                state.send_headers(number, [(":status", "200"), ("content-length", "2")])
                bodiless = wire.streams[number].method == b"HEAD"
                state.send_data(number, b"" if bodiless else b"ok", end_stream=True)
            case _:
                pass

    def _finish(self, wire: Wire) -> None:
        try:
            message, rest = (None, b"") if wire.fault else read(wire.rest)
            if message is not None:
                wire.messages.append(message)
            elif rest:
                wire.fault = f"the bytes end inside a head: {rest[:80]!r}"
        except AmbiguousError as error:
            wire.fault = str(error)
        with self._changed:
            self._open -= 1
            self._changed.notify_all()


def request_of(lines: Iterable[tuple[bytes, bytes]]) -> Message:
    """Return an HTTP/2 request, read as strictly as one of HTTP/1.1; `:authority` becomes its Host."""
    pairs = [(bytes(name), bytes(value)) for name, value in lines]
    pseudo = {name: value for name, value in pairs if name.startswith(b":")}
    rest = [(name, value) for name, value in pairs if not name.startswith(b":")]
    if (
        set(pseudo) != {b":method", b":scheme", b":path", b":authority"}
        or pseudo[b":scheme"] != b"https"
    ):
        raise AmbiguousError(f"pseudo headers {pseudo!r}")
    first = b"%s %s HTTP/1.1" % (pseudo[b":method"], pseudo[b":path"])
    text = [first, b"host: " + pseudo[b":authority"], *(b"%s: %s" % pair for pair in rest)]
    found, _ = read(b"\r\n".join([*text, b"", b""]))
    assert found is not None
    return replace(found, body=b"", complete=False)
