"""Head and body leave together where both are there, and apart where the body streams."""

from __future__ import annotations

from collections.abc import Iterator

from mitmproxy import http
from mitmproxy.connection import Server
from mitmproxy.proxy import commands
from mitmproxy.proxy.layers.http import ErrorCode, HttpEvent, ResponseProtocolError
from mitmproxy.proxy.layers.http._events import ResponseData, ResponseEndOfMessage, ResponseHeaders

from ghost_addons import joined


class Connection:
    """An HTTP/1 connection that writes the name of what it is told to send."""

    def __init__(self) -> None:
        self.conn = Server(address=("127.0.0.1", 1))

    def send(self, event: HttpEvent) -> Iterator[commands.Command]:
        """Write data, or close."""
        if isinstance(event, ResponseProtocolError):
            yield commands.CloseConnection(self.conn)
        elif isinstance(event, ResponseHeaders):
            yield commands.SendData(self.conn, b"head ")
        elif isinstance(event, ResponseData):
            yield commands.SendData(self.conn, event.data)


def sent(*told: HttpEvent) -> list[bytes | type[commands.Command]]:
    """Tell a connection of events; return what it writes, and the kinds of its other commands."""
    connection, send = Connection(), joined.joined(Connection.send)
    found = [command for event in told for command in send(connection, event)]
    return [each.data if isinstance(each, commands.SendData) else type(each) for each in found]


def head(body: bytes | None, *, stream: bool = False, ends: bool = False) -> ResponseHeaders:
    response = http.Response.make(200)
    response.raw_content, response.stream = body, stream
    return ResponseHeaders(1, response, end_stream=ends)


def test_a_head_waits_for_the_body_that_is_there() -> None:
    assert sent(head(b"body"), ResponseData(1, b"body"), ResponseEndOfMessage(1)) == [b"head body"]


def test_a_head_without_a_body_leaves_at_once() -> None:
    assert sent(head(b"", ends=True)) == [b"head "]


def test_the_head_of_a_stream_leaves_at_once() -> None:
    assert sent(head(None, stream=True)) == [b"head "]
    assert sent(head(b"seen", stream=True)) == [b"head "]


def test_only_the_first_piece_takes_the_head_along() -> None:
    pieces = [ResponseData(1, b"one"), ResponseData(1, b"two")]
    assert sent(head(b"onetwo"), *pieces) == [b"head one", b"two"]


def test_a_head_whose_body_never_comes_is_not_lost() -> None:
    assert sent(head(b"body"), ResponseEndOfMessage(1)) == [b"head "]
    broken = ResponseProtocolError(1, "gone", ErrorCode.GENERIC_SERVER_ERROR)
    assert sent(head(b"body"), broken) == [b"head ", commands.CloseConnection]
