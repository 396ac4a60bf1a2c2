"""The witness over the wire: the one call, and what is bounded."""

from __future__ import annotations

import hashlib
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn

import pytest

from ghost_ledger.cosignature import cosigned
from ghost_ledger.witness import server
from ghost_ledger.witness.request import REQUEST_LIMIT
from ghost_ledger.witness.witness import Witness
from support.bundles import Log
from support.cosigners import asking, served, witness

LOG = Log().session().action().finish().log
MORE = LOG.session(8).finish().log


@pytest.fixture
def found(tmp_path: Path) -> Witness:
    return witness(tmp_path, [LOG.vkey])


@pytest.fixture
def port(found: Witness) -> Iterator[int]:
    with served(found) as at:
        yield at


def post(port: int, body: bytes, path: str = "/add-checkpoint") -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", path, body)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read()
    finally:
        connection.close()


def raw(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(data)
        got = b""
        while part := line.recv(4096):
            got += part
    return got


def test_a_head_is_cosigned_over_the_wire(port: int, found: Witness):
    status, media, body = post(port, asking(LOG, 0, 3))
    assert (status, media) == (200, "text/plain; charset=utf-8")
    assert found.vkey in cosigned(LOG.head(3) + body, [found.vkey])
    assert post(port, asking(LOG, 0)) == (409, "text/x.tlog.size", b"3\n")
    assert post(port, asking(LOG, 3))[0] == 200


def test_a_connection_serves_many_requests(port: int):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    for _ in range(3):
        connection.request("POST", "/add-checkpoint", asking(LOG, 1))
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (409, b"0\n")
    connection.close()


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")
def test_it_listens_on_ipv6_too(found: Witness):
    with server.WitnessServer(("::1", 0), found) as made:
        assert made.server_address[0] == "::1"


def test_the_last_head_can_be_read(port: int, found: Witness):
    name = hashlib.sha256(LOG.origin.encode()).hexdigest()
    path = b"GET /%s/checkpoint HTTP/1.1\r\nConnection: close\r\n\r\n" % name.encode()
    assert raw(port, path).startswith(b"HTTP/1.1 404 ")
    _, _, line = post(port, asking(LOG, 0))
    assert raw(port, path).endswith(LOG.head() + line)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /add-checkpoint HTTP/1.1", 405),
        (b"GET / HTTP/1.1", 404),
        (b"POST / HTTP/1.1\r\nContent-Length: 0", 404),
        (b"POST /add-checkpoint HTTP/1.1", 411),
        (b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: -1", 411),
        (b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: 1e3", 411),
        (b"POST /add-checkpoint HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1", 411),
        (b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: %d" % (REQUEST_LIMIT + 1), 413),
        (b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: " + b"9" * 5000, 413),
        (b"PUT /add-checkpoint HTTP/1.1", 501),
    ],
    ids=range(10),
)
def test_everything_else_is_refused_and_the_line_closed(port: int, head: bytes, status: int):
    said = raw(port, head + b"\r\nHost: w\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 %d " % status)


def test_a_body_that_breaks_off_is_no_request(port: int):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: 10\r\n\r\nold")
        line.shutdown(socket.SHUT_WR)
        assert line.recv(100) == b""


def test_a_memory_that_is_gone_is_500_and_nothing_is_signed(port: int, tmp_path: Path):
    (tmp_path / "witness" / "heads").unlink()
    assert post(port, asking(LOG, 0)) == (
        500, "text/plain; charset=utf-8", b"the witness cannot answer now\n",
    )  # fmt: skip


def test_a_connection_may_not_last_for_ever(found: Witness, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "CONNECTION_SECONDS", 0.1)
    with served(found) as port:
        assert raw(port, b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: 10\r\n\r\n") == b""


def test_a_connection_that_gets_no_thread_takes_no_place(
    found: Witness, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(server, "THREADS", 1)
    with served(found) as port:
        with monkeypatch.context() as broken:
            broken.setattr(ThreadingMixIn, "process_request", fail)
            for _ in range(3):
                assert raw(port, b"") == b""
        assert raw(port, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 404 ")


def test_who_finds_no_place_is_sent_away(found: Witness, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "THREADS", 1)
    monkeypatch.setattr(server, "QUEUE_SECONDS", 0.05)
    with (
        served(found) as port,
        socket.create_connection(("127.0.0.1", port), timeout=10) as first,
    ):
        first.sendall(b"POST /add-checkpoint HTTP/1.1\r\n")
        assert raw(port, b"GET / HTTP/1.1\r\n\r\n") == b""
        first.sendall(b"Content-Length: 0\r\n\r\n")
        assert first.recv(100).startswith(b"HTTP/1.1 400 ")
