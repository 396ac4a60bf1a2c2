"""Reading the heads of HTTP/1 messages: with a limit, and on to the reply that is the answer.

The engine keeps a head that does not end for as long as bytes come, also from clients that nobody
authenticated; it keeps what a client sends ahead of an answer; it takes an interim reply (RFC 9110 §15.2)
for the answer; and it leaves an upstream open that switched protocols and was refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator

from h11._receivebuffer import ReceiveBuffer
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestProtocolError,
    ResponseHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._http1 import Http1Client, Http1Connection, Http1Server

from ghost_addons import unread, websocket, wrapping

HEAD_BYTES = 262_144
"""How long a head may be that is not complete."""
AHEAD_BYTES = 1_000_000
"""How much a client may send ahead while it waits for an answer."""
HEAD_TOO_LARGE = 431
MALFORMED = 400
SWITCHING_PROTOCOLS = 101

type Commands = Generator[commands.Command, None, None]
type Step = Callable[..., Commands]


def of_requests(read: Step) -> Step:
    """Wrap the step that reads a request's head: one that is too long is answered with 431.

    What the engine cannot read, it answers with 400; both come before the guard.
    """

    @functools.wraps(read)
    def read_headers(server: Http1Server, event: events.Event) -> Commands:
        left = len(server.buf) + 1
        while server.state == server.read_headers and len(server.buf) < left:
            # The engine takes an empty line for all there is; RFC 9112 §2.2 has it pass over them.
            left = len(server.buf)
            yield from read(server, event)
        if _goes_on(server):
            page = _http1.make_error_response(HEAD_TOO_LARGE)
            yield commands.SendData(server.conn, page)
            yield from _end(server)
            yield unread.told(server.stream_id, HEAD_TOO_LARGE)
        elif server.state == server.done and server.request is None:
            yield unread.told(server.stream_id, MALFORMED)

    return read_headers


def of_replies(read: Step) -> Step:
    """Wrap the step that reads a reply's head: interim ones are passed over, a long one is an error."""

    @functools.wraps(read)
    def read_headers(client: Http1Client, event: events.Event) -> Commands:
        while True:
            interim = False
            steps = read(client, event)
            for command in steps:
                interim = _is_interim(command)
                if interim:
                    break
                yield command
            steps.close()
            if not interim:
                break
            client.response = None
            event = events.DataReceived(client.conn, b"")
        if client.stream_id is not None and _goes_on(client):
            error = ResponseProtocolError(
                client.stream_id, "the head is too long", ErrorCode.GENERIC_SERVER_ERROR
            )
            yield from _end(client)
            yield ReceiveHttp(error)

    return read_headers


def waiting(wait: Step) -> Step:
    """Wrap the step in which a client waits for its answer: one that sends on and on is left."""

    @functools.wraps(wait)
    def wait_bounded(server: Http1Server, event: events.Event) -> Commands:
        yield from wait(server, event)
        if server.state == server.wait and len(server.buf) > AHEAD_BYTES:
            error = RequestProtocolError(
                server.stream_id, "client sent too much ahead", ErrorCode.CLIENT_DISCONNECTED
            )
            yield from _end(server)
            yield ReceiveHttp(error)

    return wait_bounded


def switching(make: Step) -> Step:
    """Wrap the step that leaves an upstream to another protocol: one that was refused is closed."""

    @functools.wraps(make)
    def make_pipe(client: Http1Client) -> Commands:
        assert client.request is not None
        assert client.response is not None
        if websocket.agreed(client.request, client.response):
            yield from make(client)
        else:
            yield from _end(client)

    return make_pipe


def _goes_on(connection: Http1Connection) -> bool:
    return connection.state == connection.read_headers and len(connection.buf) > HEAD_BYTES


def _end(connection: Http1Connection) -> Commands:
    connection.state = connection.done
    connection.buf = ReceiveBuffer()
    yield commands.CloseConnection(connection.conn)


def _is_interim(command: commands.Command) -> bool:
    if not isinstance(command, ReceiveHttp) or not isinstance(command.event, ResponseHeaders):
        return False
    status = command.event.response.status_code
    return 100 <= status <= 199 and status != SWITCHING_PROTOCOLS


_STEPS: tuple[tuple[type, str, Callable[[Step], Step]], ...] = (
    (Http1Server, "read_headers", of_requests),
    (Http1Server, "wait", waiting),
    (Http1Client, "read_headers", of_replies),
    (Http1Client, "make_pipe", switching),
)


def install() -> None:
    """Wrap the engine's steps, once."""
    for owner, name, wrap in _STEPS:
        wrapping.around(owner, name, wrap)
