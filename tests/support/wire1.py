"""HTTP/1.1 as hostile clients write it: requests, changed into what proxies and servers read differently.

A `Wire` is one connection: pieces that are sent one after the other, and the names of what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import strategies as st

from support.home import PLACEHOLDER
from support.odd import (
    BODIES,
    ENDS,
    FRAMES,
    HOST_NAMES,
    HOSTS,
    LINES,
    METHODS,
    NOISE,
    ODD_LINES,
    ODD_METHODS,
    ODD_PATHS,
    PATHS,
    SEPARATORS,
    SIZES,
    TRAILERS,
    VERSIONS,
)

type Draw = Callable[[st.SearchStrategy], object]


@dataclass(slots=True)
class Parts:
    """A request before it is bytes."""

    method: bytes
    target: bytes
    host: bytes
    version: bytes = b"HTTP/1.1"
    gaps: tuple[bytes, bytes] = (b" ", b" ")
    end: bytes = b"\r\n"
    lines: list[bytes] = field(default_factory=list)
    body: bytes = b""
    framing: bytes | None = None
    before: bytes = b""

    def raw(self) -> bytes:
        """Return the bytes."""
        first = self.method + self.gaps[0] + self.target + self.gaps[1] + self.version
        lines = [first, *([self.host] if self.host else []), *self.lines]
        lines += [self.framing] if self.framing is not None else []
        return self.before + self.end.join([*lines, b"", b""]) + self.body


@dataclass(frozen=True, slots=True)
class Wire:
    """What one client sends over one connection, piece by piece, and what is odd about it."""

    pieces: tuple[bytes, ...]
    kinds: tuple[str, ...]

    @property
    def data(self) -> bytes:
        """All of it."""
        return b"".join(self.pieces)


@st.composite
def wires(draw: Draw, authority: str, *, absolute: bool = False) -> Wire:
    """Draw a connection of one to three requests; `absolute` writes targets as to a proxy."""
    kinds: list[str] = []
    count = draw(st.sampled_from([1, 1, 2, 3]))
    raw = b"".join(_request(draw, authority, kinds, absolute=absolute) for _ in range(count))
    if draw(st.integers(0, 9)) == 0:
        kinds.append("noise")
        at = draw(st.integers(0, len(raw)))
        cut = draw(st.sampled_from([0, 0, 1, 2]))
        raw = raw[:at] + draw(st.sampled_from(NOISE)) + raw[at + cut :]
    if draw(st.integers(0, 14)) == 0:
        kinds.append("truncated")
        raw = raw[: draw(st.integers(0, len(raw)))]
    cuts = sorted({min(cut, len(raw)) for cut in draw(st.lists(st.integers(1, 400), max_size=3))})
    edges = [0, *cuts, len(raw)]
    pieces = tuple(raw[one:two] for one, two in pairwise(edges) if one < two)
    return Wire(pieces, tuple(kinds))


def _request(draw: Draw, authority: str, kinds: list[str], *, absolute: bool) -> bytes:
    host = authority.encode()
    path = draw(st.sampled_from(PATHS))
    parts = Parts(draw(st.sampled_from(METHODS)), path, b"Host: " + host)
    if absolute:
        parts.target = b"http://" + host + path
    parts.lines = draw(st.lists(st.sampled_from(LINES), max_size=3))
    _frame(draw, parts)
    for name in draw(st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=2)):
        kinds.append(name)
        MUTATIONS[name](draw, parts, host)
    port = authority.rpartition(":")[2].encode()
    return (
        parts.raw()
        .replace(b"{port}", port)
        .replace(b"{placeholder}", PLACEHOLDER.encode())
        .replace(b"{n}", b"%d" % len(parts.body))
    )


def _frame(draw: Draw, parts: Parts) -> None:
    """Give the request a body, well framed."""
    how = draw(st.sampled_from(["none", "none", "length", "length", "chunks"]))
    body = draw(st.sampled_from(BODIES))
    if how == "length":
        parts.body, parts.framing = body, b"Content-Length: %d" % len(body)
    if how == "chunks":
        parts.body, parts.framing = _chunked([body]), b"Transfer-Encoding: chunked"


def _chunked(bodies: list[bytes], size: bytes = b"{x}", trailers: bytes = b"") -> bytes:
    sized = ((size.replace(b"{x}", b"%x" % len(body)), body) for body in bodies if body)
    return b"".join(b"%s\r\n%s\r\n" % pair for pair in sized) + b"0\r\n" + trailers + b"\r\n"


def _method(draw: Draw, parts: Parts, host: bytes) -> None:
    parts.method = draw(st.one_of(st.sampled_from(ODD_METHODS), st.binary(min_size=1, max_size=6)))


def _path(draw: Draw, parts: Parts, host: bytes) -> None:
    odd = draw(st.one_of(st.sampled_from(ODD_PATHS), st.binary(max_size=8).map(lambda b: b"/" + b)))
    parts.target = (
        parts.target[: parts.target.find(host) + len(host)] + odd if host in parts.target else odd
    )


def _form(draw: Draw, parts: Parts, host: bytes) -> None:
    """Write the target in another form: absolute, authority, with user information, with another scheme."""
    forms = [
        b"https://%s/echo", b"http://%s/echo", b"HTTPS://%s/echo", b"https://evil.test/echo", b"https://%s", b"https://%s?x",
        b"https://u:p@%s/echo", b"ftp://%s/x", b"ws://%s/", b"%s", b"//%s/echo", b"https:/%s/echo", b"https://%s@evil.test/",
        b"https://%s/../admin", b"https:///echo", b"https://%s/echo#x", b"javascript:alert", b"://%s/", b"https://[::1]/", b"https://%s\\@evil.test/x",
    ]  # fmt: skip
    form = draw(st.sampled_from(forms))
    parts.target = form % host if b"%s" in form else form


def _version(draw: Draw, parts: Parts, host: bytes) -> None:
    parts.version = draw(st.sampled_from(VERSIONS))


def _gaps(draw: Draw, parts: Parts, host: bytes) -> None:
    odd = st.sampled_from([b" ", *SEPARATORS])
    parts.gaps = (draw(odd), draw(odd))


def _host(draw: Draw, parts: Parts, host: bytes) -> None:
    how = draw(st.sampled_from(["value", "name", "none", "twice", "twice-same"]))
    value = draw(st.sampled_from(HOSTS))
    match how:
        case "value":
            parts.host = b"Host: " + value
        case "name":
            parts.host = draw(st.sampled_from(HOST_NAMES)) + b": " + host
        case "none":
            parts.host = b""
        case "twice":
            parts.host += b"\r\nHost: " + value
        case _:
            parts.host += b"\r\nhost: " + host


def _line(draw: Draw, parts: Parts, host: bytes) -> None:
    parts.lines.insert(draw(st.integers(0, len(parts.lines))), draw(st.sampled_from(ODD_LINES)))


def _any_line(draw: Draw, parts: Parts, host: bytes) -> None:
    name, value = draw(st.binary(max_size=6)), draw(st.binary(max_size=6))
    parts.lines.append(draw(st.sampled_from([b"X-A", b"X-A" + name, name])) + b": " + value)


def _framing(draw: Draw, parts: Parts, host: bytes) -> None:
    parts.framing = draw(st.sampled_from(FRAMES))


def _chunks(draw: Draw, parts: Parts, host: bytes) -> None:
    bodies = draw(st.lists(st.sampled_from(BODIES[1:6]), min_size=1, max_size=3))
    parts.framing = b"Transfer-Encoding: chunked"
    parts.body = _chunked(bodies, draw(st.sampled_from(SIZES)), draw(st.sampled_from(TRAILERS)))


def _ends(draw: Draw, parts: Parts, host: bytes) -> None:
    parts.end = draw(st.sampled_from(ENDS))


def _early(draw: Draw, parts: Parts, host: bytes) -> None:
    parts.before = draw(
        st.sampled_from(
            [
                b"\r\n",
                b"\n",
                b"\r\n\r\n",
                b"\x00",
                b"\x16\x03\x01",
                b" ",
                b"\r",
                b"\xef\xbb\xbf",
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            ]
        )
    )


def _many(draw: Draw, parts: Parts, host: bytes) -> None:
    count = draw(st.sampled_from([30, 100]))
    parts.lines += [b"X-%d: 1" % number for number in range(count)]


MUTATIONS: dict[str, Callable[[Draw, Parts, bytes], None]] = {
    "method": _method,
    "path": _path,
    "form": _form,
    "version": _version,
    "gaps": _gaps,
    "host": _host,
    "line": _line,
    "line2": _line,
    "any-line": _any_line,
    "framing": _framing,
    "framing2": _framing,
    "chunks": _chunks,
    "ends": _ends,
    "early": _early,
    "many": _many,
}


@dataclass(frozen=True, slots=True)
class Names:
    """The three names that a client chooses: of the tunnel, in TLS, and in the request."""

    connect: bytes
    sni: str | None
    host: bytes


@st.composite
def names(draw: Draw, authority: str) -> Names:
    """Draw the names of a tunnel; most are the upstream's, in some spelling."""
    port = authority.rpartition(":")[2].encode()
    spelled = st.one_of(st.just(authority.encode()), st.sampled_from(HOSTS)).map(
        lambda text: text.replace(b"{port}", port)
    )
    snis = [
        "localhost",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "evil.test",
        "127.0.0.1",
        "xn--a",
        None,
    ]
    return Names(draw(spelled), draw(st.sampled_from(snis)), draw(spelled))
