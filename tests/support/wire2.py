"""HTTP/2 as hostile clients write it: frames by hand, no state machine that would forbid anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hpack import Decoder, Encoder
from hpack.exceptions import HPACKError
from hyperframe.exceptions import HyperframeError
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)
from hypothesis import strategies as st

from support.odd import (
    BODIES,
    HOSTS,
    LINES_2,
    METHODS,
    ODD_LINES_2,
    ODD_METHODS,
    ODD_PATHS,
    PATHS,
    SCHEMES,
    TRAILERS_2,
    Line,
)
from support.wire1 import Draw
from support.witness import Told

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
LAST = 201


@dataclass(slots=True)
class Stream:
    """One request before it is frames."""

    pseudo: list[Line]
    lines: list[Line]
    bodies: list[bytes] = field(default_factory=list)
    trailers: list[Line] | None = None
    cut: int | None = None
    splits: int = 1
    late_pseudo: bool = False
    ends: bool = True
    padding: int = 0

    def named(self, name: bytes, value: bytes) -> None:
        """Set a pseudo header."""
        self.pseudo = [(key, value if key == name else old) for key, old in self.pseudo]


@dataclass(frozen=True, slots=True)
class Frames:
    """What one client sends: bytes, the streams that it opens, and what is odd."""

    data: bytes
    kinds: tuple[str, ...]


@st.composite
def frames(draw: Draw, authority: str) -> Frames:
    """Draw a connection of one to three streams and an ordinary request at its end."""
    kinds: list[str] = []
    encoder = Encoder()
    groups: list[list[bytes]] = []
    for number in range(draw(st.sampled_from([1, 1, 2, 3]))):
        stream = _stream(draw, authority, kinds)
        groups.append(_serialized(stream, 2 * number + 1, encoder))
    parts = (
        _mingled(groups) if draw(st.booleans()) else [each for group in groups for each in group]
    )
    if draw(st.integers(0, 5)) == 0:
        kinds.append("frame")
        at = draw(st.integers(0, len(parts)))
        parts.insert(at, draw(st.sampled_from(ODD_FRAMES)))
    if draw(st.integers(0, 12)) == 0:
        kinds.append("noise")
        at = draw(st.integers(0, len(parts) - 1))
        parts[at] = parts[at][:-1] + draw(st.binary(max_size=3))
    body = b"".join(parts).replace(b"{authority}", authority.encode())
    good = _serialized(Stream(_pseudo(b"GET", b"/sentinel", authority), []), LAST, encoder)
    return Frames(PREFACE + SettingsFrame(0).serialize() + body + b"".join(good), tuple(kinds))


def _pseudo(method: bytes, path: bytes, authority: str) -> list[Line]:
    return [
        (b":method", method),
        (b":scheme", b"https"),
        (b":authority", authority.encode()),
        (b":path", path),
    ]


def _stream(draw: Draw, authority: str, kinds: list[str]) -> Stream:
    pseudo = _pseudo(draw(st.sampled_from(METHODS)), draw(st.sampled_from(PATHS)), authority)
    stream = Stream(pseudo, draw(st.lists(st.sampled_from(LINES_2), max_size=3)))
    stream.bodies = draw(st.lists(st.sampled_from(BODIES), max_size=2))
    size = sum(map(len, stream.bodies))
    if stream.bodies and draw(st.booleans()):
        stream.lines.append((b"content-length", b"%d" % size))
    for name in draw(st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=2)):
        kinds.append(name)
        MUTATIONS[name](draw, stream, authority)
    port = authority.rpartition(":")[2].encode()
    known = {b"{n}": b"%d" % size, b"{port}": port, b"{authority}": authority.encode()}
    for mark, text in known.items():
        stream.pseudo = [(name, value.replace(mark, text)) for name, value in stream.pseudo]
        stream.lines = [(name, value.replace(mark, text)) for name, value in stream.lines]
    return stream


def _serialized(stream: Stream, number: int, encoder: Encoder) -> list[bytes]:
    lines = (
        [*stream.lines, *stream.pseudo] if stream.late_pseudo else [*stream.pseudo, *stream.lines]
    )
    end = stream.ends and not stream.bodies and stream.trailers is None
    found = [_block(encoder.encode(lines), number, end=end, splits=stream.splits)]
    for index, body in enumerate(stream.bodies):
        last = index == len(stream.bodies) - 1 and stream.trailers is None and stream.ends
        frame = DataFrame(number, body, flags=["END_STREAM"] if last else [])
        if stream.padding:
            frame.flags.add("PADDED")
            frame.pad_length = stream.padding
        found.append(frame.serialize())
    if stream.trailers is not None:
        found.append(_block(encoder.encode(stream.trailers), number, end=True, splits=1))
    if stream.cut is not None:
        found.insert(min(stream.cut, len(found)), RstStreamFrame(number, error_code=8).serialize())
    return found


def _block(block: bytes, number: int, *, end: bool, splits: int) -> bytes:
    step = max(1, -(-len(block) // splits))
    pieces = [block[at : at + step] for at in range(0, len(block), step)] or [b""]
    frames_: list[Frame] = [HeadersFrame(number, pieces[0], flags=["END_STREAM"] if end else [])]
    frames_ += [ContinuationFrame(number, piece) for piece in pieces[1:]]
    frames_[-1].flags.add("END_HEADERS")
    return b"".join(frame.serialize() for frame in frames_)


def _mingled(groups: Sequence[list[bytes]]) -> list[bytes]:
    """Take one frame of each stream in turn; heads in order, since they share one table."""
    heads, rest = [group[0] for group in groups], [list(group[1:]) for group in groups]
    found = list(heads)
    while any(rest):
        found += [group.pop(0) for group in rest if group]
    return found


def _ping() -> bytes:
    return PingFrame(0, b"12345678").serialize()


ODD_FRAMES = [
    _ping(),
    PriorityFrame(1, depends_on=0, stream_weight=1).serialize(),
    PriorityFrame(9, depends_on=9, stream_weight=1).serialize(),
    WindowUpdateFrame(0, window_increment=1).serialize(),
    WindowUpdateFrame(1, window_increment=2**31 - 1).serialize(),
    b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    SettingsFrame(0, {1: 0}).serialize(),
    SettingsFrame(0, {4: 0}).serialize(),
    SettingsFrame(0, {5: 16_777_216}).serialize(),
    b"\x00\x00\x01\x04\x00\x00\x00\x00\x00\x00",
    GoAwayFrame(0, last_stream_id=0, error_code=0).serialize(),
    RstStreamFrame(1, error_code=0).serialize(),
    RstStreamFrame(77, error_code=8).serialize(),
    RstStreamFrame(2, error_code=8).serialize(),
    DataFrame(1, b"late", flags=["END_STREAM"]).serialize(),
    DataFrame(99, b"nobody").serialize(),
    b"\x00\x00\x01\x00\x00\x00\x00\x00\x00x",
    DataFrame(1, b"").serialize() * 20,
    ContinuationFrame(1, b"\x82", flags=["END_HEADERS"]).serialize(),
    HeadersFrame(1, b"\x82", flags=["END_HEADERS"]).serialize(),
    HeadersFrame(2, b"\x82\x87\x84", flags=["END_HEADERS", "END_STREAM"]).serialize(),
    HeadersFrame(51, b"\xff\xff\xff\xff", flags=["END_HEADERS", "END_STREAM"]).serialize(),
    HeadersFrame(51, b"", flags=["END_HEADERS", "END_STREAM"]).serialize(),
    HeadersFrame(51, b"\x82\x84\x87", flags=["END_HEADERS", "END_STREAM"]).serialize(),
    b"\x00\x00\x02\xee\x00\x00\x00\x00\x01ab",
    b"\x00\x00\x05\x05\x04\x00\x00\x00\x01\x00\x00\x00\x02\x82",
    b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
]


def _odd_line(draw: Draw, stream: Stream, authority: str) -> None:
    at = draw(st.integers(0, len(stream.lines)))
    stream.lines.insert(at, draw(st.sampled_from(ODD_LINES_2)))


def _any_line(draw: Draw, stream: Stream, authority: str) -> None:
    name = draw(st.one_of(st.just(b"x-a"), st.binary(max_size=5)))
    stream.lines.append((name, draw(st.binary(max_size=6))))


def _double(draw: Draw, stream: Stream, authority: str) -> None:
    at = draw(st.integers(0, len(stream.pseudo) - 1))
    name, value = stream.pseudo[at]
    stream.pseudo.insert(at, (name, draw(st.sampled_from([value, b"", b"/admin", b"evil.test"]))))


def _missing(draw: Draw, stream: Stream, authority: str) -> None:
    if len(stream.pseudo) > 1:
        del stream.pseudo[draw(st.integers(0, len(stream.pseudo) - 1))]


def _late(draw: Draw, stream: Stream, authority: str) -> None:
    stream.late_pseudo = True


def _method(draw: Draw, stream: Stream, authority: str) -> None:
    odd = st.one_of(st.sampled_from(ODD_METHODS), st.binary(max_size=5))
    stream.named(b":method", draw(odd))


def _path(draw: Draw, stream: Stream, authority: str) -> None:
    odd = st.binary(max_size=8).map(lambda text: b"/" + text)
    stream.named(b":path", draw(st.one_of(st.sampled_from(ODD_PATHS), odd)))


def _scheme(draw: Draw, stream: Stream, authority: str) -> None:
    stream.named(b":scheme", draw(st.sampled_from(SCHEMES)))


def _authority(draw: Draw, stream: Stream, authority: str) -> None:
    stream.named(b":authority", draw(st.sampled_from(HOSTS)))


def _split(draw: Draw, stream: Stream, authority: str) -> None:
    stream.splits = draw(st.sampled_from([2, 3, 50]))


def _trailers(draw: Draw, stream: Stream, authority: str) -> None:
    stream.trailers = draw(st.sampled_from(TRAILERS_2))


def _reset(draw: Draw, stream: Stream, authority: str) -> None:
    stream.cut = draw(st.integers(1, 3))


def _open(draw: Draw, stream: Stream, authority: str) -> None:
    stream.ends = False


def _empty(draw: Draw, stream: Stream, authority: str) -> None:
    stream.bodies = [b"", *stream.bodies, b"", b""]


def _padded(draw: Draw, stream: Stream, authority: str) -> None:
    stream.padding = draw(st.sampled_from([1, 255]))


MUTATIONS: dict[str, Callable[[Draw, Stream, str], None]] = {
    "2:line": _odd_line,
    "2:line2": _odd_line,
    "2:any-line": _any_line,
    "2:double": _double,
    "2:missing": _missing,
    "2:late": _late,
    "2:method": _method,
    "2:path": _path,
    "2:scheme": _scheme,
    "2:authority": _authority,
    "2:split": _split,
    "2:trailers": _trailers,
    "2:reset": _reset,
    "2:open": _open,
    "2:empty": _empty,
    "2:padded": _padded,
}


@dataclass(slots=True)
class Listener:
    """Reads what a server answers, frame by frame."""

    raw: bytes = b""
    answers: dict[int, Told] = field(default_factory=dict)
    ended: bool = False
    _rest: bytes = b""
    _decoder: Decoder = field(default_factory=Decoder)

    def hear(self, data: bytes) -> None:
        """Take what came; `ended` tells that the last request is answered, or nothing will be."""
        self.raw += data
        self._rest += data
        while len(self._rest) >= 9:
            frame, length = Frame.parse_frame_header(memoryview(self._rest[:9]))
            if len(self._rest) < 9 + length:
                return
            body, self._rest = self._rest[9 : 9 + length], self._rest[9 + length :]
            try:
                frame.parse_body(memoryview(body))
                self._see(frame)
            except (HyperframeError, HPACKError):
                self.ended = True

    def _see(self, frame: Frame) -> None:
        if isinstance(frame, GoAwayFrame):
            self.answers[0] = Told(400, "request.malformed")
            self.ended = True
        if isinstance(frame, HeadersFrame):
            lines = dict(self._decoder.decode(frame.data))
            status = int(lines.get(":status", 0))
            if status >= 200:
                self.answers[frame.stream_id] = Told(status, lines.get("x-ghost-reason", ""))
        if frame.stream_id == LAST and (
            "END_STREAM" in frame.flags or isinstance(frame, RstStreamFrame)
        ):
            self.ended = True
