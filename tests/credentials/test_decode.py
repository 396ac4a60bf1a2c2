from __future__ import annotations

import sys
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import FailedError, LimitError
from ghost_credentials.decode import Decoder, Limits, decoder, supported_accept_encoding
from support.packed import gzipped

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


type Coding = tuple[bytes, Callable[[bytes], bytes]]

CODINGS: list[Coding] = [
    (b"gzip", gzipped),
    (b"X-GZip", gzipped),
    (b"deflate", zlib.compress),
    (b"deflate", raw_deflate),
    (b"br", brotli.compress),
    (b"zstd", zstd.compress),
]
coding = pytest.mark.parametrize(("name", "pack"), CODINGS)


def made(name: bytes | None, limits: Limits | None = None) -> Decoder:
    found = decoder(name, limits)
    assert found is not None
    return found


def unpacked(found: Decoder, data: bytes, *, size: int = 1 << 16) -> bytes:
    parts = [found.feed(data[at : at + size]) for at in range(0, len(data), size)]
    return b"".join([*parts, found.finish()])


@given(st.sampled_from(CODINGS), st.binary(max_size=5000), st.integers(1, 700))
def test_any_body_in_any_pieces_is_decoded(each: Coding, body: bytes, size: int) -> None:
    name, pack = each
    assert unpacked(made(name), pack(body), size=size) == body


@coding
def test_a_body_over_many_steps_is_decoded(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    body = b"".join(b"line %d of the text\n" % index for index in range(40_000))
    assert unpacked(made(name), pack(body)) == body


@pytest.mark.parametrize("name", [None, b"", b"identity", b"Identity, "])
def test_no_coding_passes_as_it_is(name: bytes | None) -> None:
    assert unpacked(made(name), b"text") == b"text"


@pytest.mark.parametrize("name", [b"compress", b"gzip, gzip", b"br,gzip", b"x", b"gzip;q=1"])
def test_unknown_and_stacked_codings_are_not_decoded(name: bytes) -> None:
    assert decoder(name) is None


def test_identity_beside_a_coding_changes_nothing() -> None:
    assert unpacked(made(b"identity, gzip"), gzipped(b"text")) == b"text"


@coding
def test_a_body_of_no_bytes_is_complete(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    assert made(name).finish() == b""
    assert pack(b"")


@coding
def test_a_body_that_ends_early_is_not_complete(
    name: bytes, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(b"a text of some length")
    for size in range(1, len(packed)):
        found = made(name)
        found.feed(packed[:size])
        with pytest.raises(FailedError) as caught:
            found.finish()
        assert caught.value.code == "body.truncated"


@coding
@pytest.mark.parametrize("apart", [False, True])
def test_what_follows_the_body_is_refused(
    name: bytes, pack: Callable[[bytes], bytes], apart: bool
) -> None:
    packed = pack(b"text") + b"\xff" * 9
    with pytest.raises(FailedError):
        unpacked(made(name), packed, size=len(packed) - 9 if apart else len(packed))


@coding
def test_another_body_is_malformed(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(FailedError) as caught:
        unpacked(made(name), b"\xff" * 9 + pack(b"text"))
    assert caught.value.code == "body.malformed"


@pytest.mark.parametrize(("name", "pack"), [(b"gzip", gzipped), (b"zstd", zstd.compress)])
@pytest.mark.parametrize("size", [1, 1000])
def test_several_streams_are_one_body(
    name: bytes, pack: Callable[[bytes], bytes], size: int
) -> None:
    assert unpacked(made(name), pack(b"one ") + pack(b"") + pack(b"two"), size=size) == b"one two"


@coding
def test_an_event_that_was_flushed_comes_at_once(
    name: bytes, pack: Callable[[bytes], bytes]
) -> None:
    flushed = {
        b"br": _flushed_brotli,
        b"zstd": _flushed_zstd,
        b"deflate": lambda data: _flushed_zlib(data, -15 if pack is raw_deflate else 15),
    }.get(name, lambda data: _flushed_zlib(data, 31))
    assert made(name).feed(flushed(b"data: hello\n\n")) == b"data: hello\n\n"


@coding
def test_a_bomb_is_stopped_before_it_is_built(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    limits = Limits(piece_bytes=200_000)
    with pytest.raises(LimitError, match="for one piece") as caught:
        made(name, limits).feed(pack(bytes(3_000_000)))
    assert caught.value.code == "body.expands"


@coding
def test_a_bomb_in_small_pieces_is_stopped_by_its_ratio(
    name: bytes, pack: Callable[[bytes], bytes]
) -> None:
    limits = Limits(total_bytes=10_000_000, piece_bytes=200_000, ratio=50)
    with pytest.raises(LimitError, match="50 times"):
        unpacked(made(name, limits), pack(bytes(3_000_000)), size=64)


@coding
def test_a_body_over_the_total_is_stopped(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(LimitError, match="more than 1000 bytes"):
        made(name, Limits(total_bytes=1000)).feed(pack(b"text" * 300))


def test_the_total_holds_without_a_coding_too() -> None:
    found = made(None, Limits(total_bytes=5))
    assert found.feed(b"12345") == b"12345"
    with pytest.raises(LimitError):
        found.feed(b"6")


def test_a_known_total_allows_one_large_piece() -> None:
    body = b"".join(b"line %d of the text\n" % index for index in range(20_000))
    limits = Limits(total_bytes=len(body), piece_bytes=1000)
    assert unpacked(made(b"gzip", limits), gzipped(body), size=1 << 30) == body


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (b"gzip", gzipped(b"a") + gzipped(b"b")),
        (b"zstd", zstd.compress(b"a") * 2),
        (b"deflate", raw_deflate(b"a")),
    ],
)
def test_what_servers_may_read_in_two_ways_is_refused_where_it_is_judged(
    name: bytes, body: bytes
) -> None:
    unpacked(made(name), body)
    with pytest.raises(FailedError) as caught:
        unpacked(made(name, Limits(strict=True)), body)
    assert caught.value.code == "body.malformed"


@coding
def test_one_stream_is_read_in_one_way(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    if pack is not raw_deflate:
        assert unpacked(made(name, Limits(strict=True)), pack(b"x" * 70_000)) == b"x" * 70_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"gzip, deflate, br, zstd", b"gzip, deflate, br, zstd"),
        (b"gzip;q=1.0, compress, dcb", b"gzip;q=1.0"),
        (b"GZIP , x-gzip", b"GZIP, x-gzip"),
        (b"*", b"identity"),
        (b"", b"identity"),
        (b"gzip;q=0, br;q=0.000", b"identity"),
        (b"gzip;q=0, identity", b"gzip;q=0, identity"),
        (b"gzip; q=0.1", b"gzip; q=0.1"),
    ],
)
def test_only_what_we_can_undo_is_asked_for(value: bytes, expected: bytes) -> None:
    assert supported_accept_encoding(value) == expected


def _flushed_zlib(data: bytes, window_bits: int) -> bytes:
    packer = zlib.compressobj(wbits=window_bits)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)


def _flushed_brotli(data: bytes) -> bytes:
    packer = brotli.Compressor()
    return bytes(packer.process(data) + packer.flush())


def _flushed_zstd(data: bytes) -> bytes:
    packer = zstd.ZstdCompressor()
    return packer.compress(data) + packer.flush(packer.FLUSH_BLOCK)
