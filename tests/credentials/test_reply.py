from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import FailedError, LimitError
from ghost_core.secret import SecretBytes
from ghost_credentials.decode import Limits
from ghost_credentials.reply import PIECE_BYTES, ReplyScrubber
from ghost_credentials.scrub import MARK, Scrubber

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SECRET = b"sk_live_hunter2-hunter2"
SCRUBBER = Scrubber([SecretBytes(SECRET)])
CODINGS: dict[bytes | None, Callable[[bytes], bytes]] = {
    None: bytes,
    b"gzip": gzip.compress,
    b"deflate": zlib.compress,
    b"br": brotli.compress,
    b"zstd": zstd.compress,
}


@given(
    st.sampled_from(list(CODINGS.items())),
    st.lists(
        st.sampled_from([SECRET, SECRET.hex().encode(), b"text ", b"sk_live_", b"\n"]), max_size=20
    ),
    st.integers(1, 50),
)
def test_no_secret_survives_any_coding_in_any_pieces(
    coding: tuple[bytes | None, Callable[[bytes], bytes]], parts: list[bytes], size: int
) -> None:
    name, pack = coding
    body, reply = b"".join(parts), ReplyScrubber(lambda: SCRUBBER, name)
    packed = pack(body)
    out = [reply.feed(packed[at : at + size]) for at in range(0, len(packed), size)]
    assert b"".join([*out, reply.finish()]) == SCRUBBER.clean(body).data
    assert reply.count == SCRUBBER.clean(body).hits


def test_the_mark_stands_in_the_secret_s_place() -> None:
    reply = ReplyScrubber(lambda: SCRUBBER, b"gzip")
    assert reply.feed(gzip.compress(b"bad key " + SECRET)) + reply.finish() == b"bad key " + MARK


def test_a_coding_that_cannot_be_undone_is_refused() -> None:
    with pytest.raises(FailedError) as caught:
        ReplyScrubber(lambda: SCRUBBER, b"gzip, br")
    assert caught.value.code == "body.coding"


def test_a_reply_that_ends_early_is_not_passed_off_as_whole() -> None:
    reply = ReplyScrubber(lambda: SCRUBBER, b"gzip")
    reply.feed(gzip.compress(b"text")[:-1])
    with pytest.raises(FailedError):
        reply.finish()


def test_the_limits_hold() -> None:
    reply = ReplyScrubber(lambda: SCRUBBER, b"gzip", Limits(total_bytes=10))
    with pytest.raises(LimitError):
        reply.feed(gzip.compress(b"text" * 100))


def test_a_piece_becomes_no_more_than_can_be_cleaned_between_other_work() -> None:
    bomb = gzip.compress(bytes(PIECE_BYTES + 1))
    with pytest.raises(LimitError) as caught:
        ReplyScrubber(lambda: SCRUBBER, b"gzip").feed(bomb)
    assert caught.value.code == "body.expands"
    assert len(ReplyScrubber(lambda: SCRUBBER, b"gzip").whole(bomb)) == PIECE_BYTES + 1


@pytest.mark.parametrize("coding", CODINGS, ids=str)
def test_a_body_that_becomes_large_is_known(coding: bytes | None) -> None:
    scrub = ReplyScrubber(lambda: SCRUBBER, coding)
    assert not scrub.expands(CODINGS[coding](b"small" * 100))
    assert scrub.expands(CODINGS[coding](bytes(1_000_000))) is (coding is not None)
    assert not scrub.expands(b"")


def test_a_body_that_is_broken_does_not_become_large() -> None:
    assert not ReplyScrubber(lambda: SCRUBBER, b"gzip").expands(b"no gzip")
