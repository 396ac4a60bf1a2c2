"""One stream of each coding."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import brotli
import pytest

from ghost_core.errors import FailedError
from ghost_credentials import codings
from ghost_credentials.codings import BROKEN, ENGINES, Engine, zstd
from support.packed import gzipped

BODY = b"".join(b"line %d of the text\n" % index for index in range(400))
PACKED: list[tuple[bytes, Callable[[bytes], bytes]]] = [
    (b"gzip", gzipped),
    (b"x-gzip", gzipped),
    (b"deflate", zlib.compress),
    (b"br", brotli.compress),
    (b"zstd", zstd.compress),
]
each = pytest.mark.parametrize(("name", "pack"), PACKED)


def stepped(engine: Engine, data: bytes) -> bytes:
    """Step until nothing comes."""
    parts = []
    while out := engine.step(data, 1000):
        parts.append(out)
        data = b""
    return b"".join(parts)


def test_every_coding_is_tried_here() -> None:
    assert {name for name, _ in PACKED} == set(ENGINES)


@each
def test_a_stream_comes_step_by_step_and_knows_its_end(
    name: bytes, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(BODY)
    engine = ENGINES[name](packed)
    assert stepped(engine, packed[:-1]) + stepped(engine, packed[-1:]) == BODY
    assert engine.ended
    assert engine.unused == b""
    assert name == b"br" or engine.step(b"more", 1000) == b""


@pytest.mark.parametrize(("name", "pack"), [entry for entry in PACKED if entry[0] != b"br"])
def test_what_follows_a_stream_is_handed_on(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(BODY) + b"next"
    engine = ENGINES[name](packed)
    assert stepped(engine, packed) == BODY
    assert engine.unused == b"next"


@each
def test_what_is_no_stream_is_broken(name: bytes, pack: Callable[[bytes], bytes]) -> None:
    del pack
    data = b"\xff" * 40
    with pytest.raises(BROKEN):
        stepped(ENGINES[name](data), data)


def test_the_raw_form_of_deflate_is_told_by_its_first_bytes() -> None:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    raw = packer.compress(BODY) + packer.flush()
    assert stepped(codings.deflate(raw), raw) == BODY
    with pytest.raises(FailedError) as caught:
        codings.wrapped_deflate(raw)
    assert caught.value.code == "body.malformed"
    wrapped = zlib.compress(BODY)
    assert stepped(codings.wrapped_deflate(wrapped), wrapped) == BODY


def test_a_window_over_eight_megabytes_is_refused() -> None:
    options = {
        zstd.CompressionParameter.window_log: 24,
        zstd.CompressionParameter.content_size_flag: 0,
    }
    packer = zstd.ZstdCompressor(options={int(key): value for key, value in options.items()})
    packed = packer.compress(b"text" * 10) + packer.flush()
    with pytest.raises(BROKEN):
        stepped(ENGINES[b"zstd"](packed), packed)
