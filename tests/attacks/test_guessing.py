"""An agent that looks for a secret letter by letter: what arrives, and when, is alike for each letter.

Its upstream repeats in pieces what it was sent, or tells how much has arrived. A guess is the beginning of a
secret with a next letter, right or wrong.
"""

from __future__ import annotations

import base64
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.agent import Tunnel, secure_connect
from support.certs import Certs
from support.exchange import WAIT_SECONDS, Exchange
from support.home import SECRET
from support.live import LiveProxy, live_proxy, until
from support.upstream import Upstream

FORMS: dict[str, Callable[[str], bytes]] = {
    "raw": str.encode,
    "base64": lambda text: base64.b64encode(text.encode()),
    "percent": lambda text: b"".join(b"%%%02x" % byte for byte in text.encode()),
    "hex": lambda text: text.encode().hex().encode(),
}
CODINGS: dict[str, Callable[[], Callable[[bytes], bytes]]] = {
    "": lambda: bytes,
    "gzip": lambda: stored(16 + zlib.MAX_WBITS),
    "deflate": lambda: stored(zlib.MAX_WBITS),
}
CODED = pytest.mark.parametrize("coding", CODINGS)
BEFORE = (b"a line\n", b"x" * 4000)


@pytest.fixture
def tunnel(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[Tunnel]:
    """A tunnel to the upstream through a proxy that has a secret loaded."""
    with live_proxy(tmp_path, certs, up) as live, opened(live, up) as made:
        yield made


def opened(live: LiveProxy, up: Upstream) -> Tunnel:
    auth = live.spawn("demo_api", ttl_seconds=300).auth
    return secure_connect(live.port, up.authority, auth, ca=live.ca)


def stored(window_bits: int) -> Callable[[bytes], bytes]:
    """Return what packs pieces that come out at once and do not differ in length."""
    packer = zlib.compressobj(level=0, wbits=window_bits)
    return lambda piece: (
        packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH if piece else zlib.Z_FINISH)
    )


def guesses(form: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield beginnings of a form of the secret, and each with another last letter."""
    whole = FORMS[form](SECRET)
    for length in (1, 2, 4, 9, len(whole) // 2, len(whole) - 2):
        right = whole[:length]
        yield right, right[:-1] + (b"~" if right[-1:] != b"~" else b"!")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


@CODED
@pytest.mark.parametrize("form", FORMS)
def test_what_arrives_of_an_echo_in_pieces_does_not_tell_a_right_letter(
    form: str, coding: str, tunnel: Tunnel, up: Upstream
) -> None:
    go_on = threading.Event()

    def echo(exchange: Exchange) -> None:
        pack = CODINGS[coding]()
        coded = [("Content-Encoding", coding)] if coding else []
        exchange.start(200, [("Content-Type", "text/plain"), *coded])
        exchange.send(pack(exchange.record.body))
        assert go_on.wait(WAIT_SECONDS)
        go_on.clear()
        exchange.send(pack(b"") if coding else b"")
        exchange.finish()

    def arrived(body: bytes) -> int:
        """Return how much came before the upstream went on."""
        tunnel.begin("POST", "/pieces", {"Host": up.authority}, body)
        pieces = tunnel.chunks(tunnel.head())
        first = next(pieces).data
        go_on.set()
        assert first + b"".join(each.data for each in pieces) == body
        return len(first)

    up.route("/pieces", echo)
    for right, wrong in guesses(form):
        for before in BEFORE:
            assert arrived(before + right) == arrived(before + wrong)


@CODED
@pytest.mark.parametrize("form", FORMS)
def test_what_an_upstream_tells_of_an_upload_does_not_tell_a_right_letter(
    form: str, coding: str, tunnel: Tunnel, up: Upstream
) -> None:
    def arrived(body: bytes) -> int:
        """Return how much the upstream had before the agent went on."""
        pack, before, calls = CODINGS[coding](), up.body_bytes, len(up.requests)
        coded = {"Content-Encoding": coding} if coding else {}
        coded["Content-Type"] = "text/plain"  # what may be a form may have no coding
        head = {"Host": up.authority, "Transfer-Encoding": "chunked", **coded}
        tunnel.begin("POST", "/status/200", head)
        first = pack(body)
        tunnel.send(chunk(first))
        up.wait_until(lambda: up._body_bytes > before, "a first piece")
        seen = up.body_bytes - before
        rest = pack(b"") if coding else b""
        tunnel.send(chunk(rest) + b"0\r\n\r\n")
        assert tunnel.answer("POST").status == 200
        assert up.requests[calls].body == first + rest
        return seen

    for right, wrong in guesses(form):
        for before in BEFORE:
            assert arrived(before + right) == arrived(before + wrong)


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        ("text/event-stream", f"data: {SECRET[:9]}\n\n".encode()),
        ("application/x-ndjson", json.dumps({"said": SECRET[:9]}).encode() + b"\n"),
    ],
)
def test_an_event_arrives_at_once(kind: str, event: bytes, tunnel: Tunnel, up: Upstream) -> None:
    go_on = threading.Event()

    def tell(exchange: Exchange) -> None:
        exchange.start(200, [("Content-Type", kind)])
        for _ in range(3):
            exchange.send(event)
            assert go_on.wait(WAIT_SECONDS)
            go_on.clear()
        exchange.finish()

    up.route("/events", tell)
    tunnel.begin("POST", "/events", {"Host": up.authority}, b"{}")
    pieces = tunnel.chunks(tunnel.head())
    for _ in range(3):
        assert next(pieces).data == event
        go_on.set()
    assert next(pieces, None) is None


def test_a_line_of_an_upload_arrives_at_once(tunnel: Tunnel, up: Upstream) -> None:
    line = f'{{"said": "{SECRET[:9]}"}}\n'.encode()
    tunnel.begin("POST", "/status/200", {"Host": up.authority, "Transfer-Encoding": "chunked"})
    for number in range(1, 4):
        tunnel.send(chunk(line))
        until(lambda number=number: up.body_bytes == number * len(line))  # type: ignore[misc]
    tunnel.send(b"0\r\n\r\n")
    assert tunnel.answer("POST").status == 200
