"""An upstream that answers before the upload has ended: what is entered of the call is all that went."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import override

import pytest

from support.agent import secure_connect
from support.agent2 import Http2Client, StreamResetError
from support.certs import Certs
from support.live import LiveProxy, live_proxy
from support.strict import read
from support.tap import OK, Tap, Wire

MORE = b"more of it\n" * 1000


class Hasty(Tap):
    """Answers a request by its head, and takes all that comes after."""

    @override
    def _one(self, sock: socket.socket, wire: Wire) -> bool:
        message, _ = read(wire.rest)
        if message is not None and not wire.begun:
            wire.begun = True
            sock.sendall(OK + b"ok")
        return False


@pytest.fixture
def up(certs: Certs) -> Iterator[Hasty]:
    """The hasty upstream."""
    with Hasty(certs) as upstream:
        yield upstream


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Hasty) -> Iterator[LiveProxy]:
    """A proxy before it."""
    with live_proxy(tmp_path, certs, up) as proxy:
        yield proxy


@pytest.mark.parametrize("first", [b"a line\n", b"no line"])
def test_nothing_goes_on_after_the_outcome(first: bytes, live: LiveProxy, up: Hasty) -> None:
    session = live.spawn("demo_api")
    head = {"Host": up.authority, "Transfer-Encoding": "chunked"}
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        tunnel.begin("POST", "/x", head)
        tunnel.send(b"%x\r\n%s\r\n" % (len(first), first))
        assert tunnel.answer().body == b"ok"
        (outcome,) = live.wait_for(session, 1, "action.outcome")
        with contextlib.suppress(OSError):
            tunnel.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(MORE), MORE))
        assert tunnel.closed()
    assert sent(up) == int(str(outcome.fields["sent"]))


def test_over_http_2_nothing_goes_on_either(live: LiveProxy, up: Hasty) -> None:
    session = live.spawn("demo_api")
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)) as tunnel:
        client = Http2Client(tunnel)
        head = [(":method", "POST"), (":scheme", "https"), (":authority", up.authority)]
        client.state.send_headers(1, [*head, (":path", "/x"), ("content-type", "text/plain")])
        client.flush()
        (outcome,) = live.wait_for(session, 1, "action.outcome")
        client.state.send_data(1, MORE, end_stream=True)
        client.flush()
        with pytest.raises((StreamResetError, EOFError, OSError)):
            client.answer(1)
            client.answer(3)  # there is none: the connection ends
    assert sent(up) == int(str(outcome.fields["sent"])) == 0


def sent(up: Hasty) -> int:
    """Return how many bytes of a body came."""
    (wire,) = up.take()
    message, _ = read(wire.data)
    assert message is not None
    return len(message.body)
