"""Whatever bytes a client sends: nothing ambiguous is forwarded, and what is refused is recorded."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from ghost_addons import holding, stream
from support.agent import Tunnel, authorization, secure_connect
from support.certs import Certs
from support.fuzzing import fuzz
from support.home import Toml
from support.live import live_proxy
from support.tap import Tap
from support.wire1 import Names, Wire, names, wires
from support.wire2 import Frames, Listener, frames
from support.witness import Witness, answers_in

IDLE_SECONDS = 0.1
GOOD = "GET /sentinel HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"
RULE = '[[rules]]\ndeny = { host = "*", method = "*", path = "/admin/**" }\n'
RULE += '[[rules]]\ndeny = { host = "*", method = "*", path = "/admin" }\n'
RULE += '[[rules]]\ndeny = { path = "/v1/**", when = "amount > 1000" }'  # bodies there are held


class Taps(NamedTuple):
    """An upstream over TLS, one in plain HTTP, one of HTTP/2."""

    secure: Tap
    plain: Tap
    newer: Tap


@pytest.fixture
def taps(certs: Certs) -> Iterator[Taps]:
    with Tap(certs) as secure, Tap(None) as plain, Tap(certs, newer=True) as newer:
        yield Taps(secure, plain, newer)


@pytest.fixture
def witness(
    tmp_path: Path, certs: Certs, taps: Taps, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Witness]:
    # small bodies go the ways of large ones
    monkeypatch.setattr(stream, "HELD_REQUEST_BYTES", 100)
    monkeypatch.setattr(holding, "UNKNOWN_BYTES", 2_000)
    places = [tap.authority for tap in taps]
    tables: dict[str, dict[str, Toml]] = {
        "proxy": {"record": "all", "allow_private": places},
        "credentials": {"demo": {"hosts": [taps.secure.authority, taps.newer.authority]}},
        "tools": {
            "plain_api": {"base_url": taps.plain.url},
            "newer_api": {"base_url": taps.newer.url, "credential": "demo"},
        },
    }
    with live_proxy(tmp_path, certs, taps.secure, **tables) as live:
        live.home.append(RULE)
        found = Witness(live, taps, "demo_api", "plain_api", "newer_api")
        with found.listening():
            yield found


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back, and whether the proxy ended the connection."""

    raw: bytes = b""
    cut: bool = False


def exchange(tunnel: Tunnel, pieces: tuple[bytes, ...]) -> Heard:
    """Send all, then read until the end or until nothing comes any more."""
    raw = b""
    try:
        for piece in pieces:
            tunnel.send(piece)
        tunnel.sock.settimeout(IDLE_SECONDS)
        while data := tunnel.sock.recv(65_536):
            raw += data
    except TimeoutError:
        return Heard(raw)
    except OSError:
        pass
    return Heard(raw, cut=True)


def tunnelled(witness: Witness, tap: Tap, wire: Wire) -> Heard:
    session, port = witness.next(), witness.proxy.port
    with secure_connect(port, tap.authority, session.auth, ca=witness.proxy.ca) as tunnel:
        return exchange(tunnel, (*wire.pieces, GOOD.format(tap.authority).encode()))


def in_the_open(witness: Witness, wire: Wire) -> Heard:
    """Send to the proxy itself; each head gets the credentials, as plain HTTP clients do."""
    (name, value), *_ = authorization(witness.next().auth)
    line = f"\r\n{name}: {value}".encode()
    raw = wire.data.replace(b"\r\nHost:", line + b"\r\nHost:")
    with Tunnel(witness.proxy.port) as tunnel:
        heard = exchange(tunnel, (raw,))
    first = re.split(rb"\n\r?\n", raw.lstrip(), maxsplit=1)[0]
    return Heard(heard.raw, cut=heard.cut and line in first)  # nobody's refusal is not entered


def in_frames(witness: Witness, tap: Tap, sent: Frames) -> Listener:
    """Send frames through a tunnel whose TLS has negotiated HTTP/2."""
    session, proxy, heard = witness.next(), witness.proxy, Listener()
    place = tap.authority
    with secure_connect(proxy.port, place, session.auth, ca=proxy.ca, alpn=("h2",)) as tunnel:
        tunnel.send(sent.data)
        tunnel.sock.settimeout(IDLE_SECONDS)
        with contextlib.suppress(OSError):
            while not heard.ended and (data := tunnel.sock.recv(65_536)):
                heard.hear(data)
    return heard


def named(witness: Witness, sent: Names) -> Heard:
    """Open a tunnel under the three names and ask for something in it."""
    (name, value), *_ = authorization(witness.next().auth)
    head = b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n" % (sent.connect, sent.connect)
    with Tunnel(witness.proxy.port) as tunnel:
        tunnel.send(head + f"{name}: {value}\r\n\r\n".encode())
        try:
            raw = tunnel.reader.until(b"\r\n\r\n")
            if not raw.startswith(b"HTTP/1.1 200"):
                return Heard(raw + exchange(tunnel, ()).raw, cut=True)
            tunnel.tls(sni=sent.sni)
        except (OSError, EOFError):
            return Heard()  # no HTTP was spoken
        return exchange(tunnel, (b"POST /echo HTTP/1.1\r\nHost: %s\r\n\r\n" % sent.host,))


def test_nothing_passes_under_several_names(witness: Witness, taps: Taps) -> None:
    """What `judge` compares holds as well: Host is the upstream's, and nothing goes elsewhere."""

    def check(sent: Names) -> None:
        heard = named(witness, sent)
        witness.judge(("names",), heard.raw, answers_in(heard.raw), cut=heard.cut)

    fuzz(check, names(taps.secure.authority), witness.tally, examples=20, share=0.05)


def test_nothing_ambiguous_passes_a_tunnel(witness: Witness, taps: Taps) -> None:
    def check(wire: Wire) -> None:
        heard = tunnelled(witness, taps.secure, wire)
        witness.judge(wire.kinds, heard.raw, answers_in(heard.raw), cut=heard.cut)

    fuzz(check, wires(taps.secure.authority), witness.tally, examples=45, share=0.2)


def test_nothing_ambiguous_passes_in_plain_http(witness: Witness, taps: Taps) -> None:
    def check(wire: Wire) -> None:
        heard = in_the_open(witness, wire)
        witness.judge(wire.kinds, heard.raw, answers_in(heard.raw), cut=heard.cut)

    sent = wires(taps.plain.authority, absolute=True)
    fuzz(check, sent, witness.tally, examples=20, share=0.1)


@pytest.mark.parametrize("upstream", ["secure", "newer"])
def test_nothing_ambiguous_passes_in_frames(witness: Witness, taps: Taps, upstream: str) -> None:
    tap = getattr(taps, upstream)

    def check(sent: Frames) -> None:
        heard = in_frames(witness, tap, sent)
        witness.judge(sent.kinds, heard.raw, list(heard.answers.values()))

    fuzz(check, frames(tap.authority), witness.tally, examples=25, share=0.25)
