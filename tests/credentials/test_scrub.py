from __future__ import annotations

import base64
import json
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ghost_core.secret import SecretBytes
from ghost_credentials.needles import needles
from ghost_credentials.scrub import _PIECE_BYTES, MARK, Scrubber, StreamScrubber

SECRET = b"sk_live_hunter2/hunter2"
FULL = 4096
"""Bytes of a text that is longer than what waits."""

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "raw": lambda secret: secret,
    "base64": base64.b64encode,
    "base64 inside": lambda secret: base64.b64encode(b"user:" + secret),
    "base64url": lambda secret: base64.urlsafe_b64encode(b"a" + secret),
    "percent": lambda secret: quote(secret, safe="").encode(),
    "percent full": lambda secret: "".join(f"%{byte:02x}" for byte in secret).encode(),
    "json": lambda secret: json.dumps(secret.decode()).encode(),
    "json full": lambda secret: "".join(f"\\u{byte:04X}" for byte in secret).encode(),
    "json slash": lambda secret: secret.replace(b"/", b"\\/"),
    "hex": lambda secret: secret.hex().encode(),
    "hex upper": lambda secret: secret.hex().upper().encode(),
}

# letters that stand in no form of the mark's text, so that two pieces do not make a secret by chance
secrets = st.lists(
    st.text("GHJKQXZ0123456789/+_-", min_size=8, max_size=40).map(str.encode),
    min_size=1,
    max_size=3,
)
# longer than what waits, or without anything that lets a line go
noise = st.builds(
    lambda part, times: part * times, st.binary(max_size=60), st.sampled_from([1, 20])
)


def scrubber(*values: bytes) -> Scrubber:
    return Scrubber([SecretBytes(value) for value in values])


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


def streamed(stream: StreamScrubber, parts: list[bytes]) -> bytes:
    return b"".join([*map(stream.feed, parts), stream.finish()])


@pytest.mark.parametrize("encode", ENCODERS.values(), ids=ENCODERS)
def test_every_form_is_taken_out(encode: Callable[[bytes], bytes]) -> None:
    found = scrubber(SECRET).clean(b'{"error": "key ' + encode(SECRET) + b' is bad"}')
    assert found.hits == 1
    assert MARK in found.data
    assert not scrubber(SECRET).holds(found.data)


@given(st.data(), secrets, st.lists(st.integers(0, 5000), max_size=12))
def test_no_form_survives_any_split(
    data: st.DataObject, values: list[bytes], cuts: list[int]
) -> None:
    parts = [data.draw(noise)]
    for value in values:
        parts += [ENCODERS[data.draw(st.sampled_from(sorted(ENCODERS)))](value), data.draw(noise)]
    text, found = b"".join(parts), scrubber(*values)
    stream = found.stream()
    out = streamed(stream, pieces(text, cuts))
    assert out == found.clean(text).data
    assert stream.count == found.clean(text).hits > 0
    assert not found.holds(out)


@pytest.mark.parametrize("around", range(-3, 4))
@pytest.mark.parametrize("filled", [b"x", b"\n", SECRET[:5]], ids=["line", "lines", "beginnings"])
def test_a_long_text_is_cleaned_as_a_short_one_is(filled: bytes, around: int) -> None:
    before = (filled * _PIECE_BYTES)[: _PIECE_BYTES - len(SECRET) // 2 + around]
    after = filled * _PIECE_BYTES + SECRET.hex().encode()
    clean = scrubber(SECRET).clean(before + SECRET + after)
    assert clean == (before + MARK + filled * _PIECE_BYTES + MARK, 2)


@given(secrets, st.binary(max_size=500), st.lists(st.integers(0, 500), max_size=8))
def test_a_text_without_secrets_passes_unchanged(
    values: list[bytes], text: bytes, cuts: list[int]
) -> None:
    found = scrubber(*values)
    stream = found.stream()
    assert found.clean(text) == (text, 0)
    assert streamed(stream, pieces(text, cuts)) == text
    assert stream.count == 0


@given(st.lists(st.text("ab", min_size=1, max_size=9), min_size=1, max_size=4), st.data())
def test_overlapping_secrets_are_found_alike_in_one_piece_and_in_many(
    values: list[str], data: st.DataObject
) -> None:
    found = scrubber(*(value.encode() for value in values))
    parts = st.sampled_from([b"a", b"b", b"ab", b"\n", b"ba" * 50, b"b" * 299])
    text = b"".join(data.draw(st.lists(parts, max_size=60)))
    cuts = data.draw(st.lists(st.integers(0, 2000), max_size=10))
    assert streamed(found.stream(), pieces(text, cuts)) == found.clean(text).data


def test_a_line_passes_at_its_end_whatever_it_begins() -> None:
    stream = scrubber(SECRET).stream()
    for event in (b'data: {"delta": "hello"}\n\n', b"data: " + SECRET[:-1] + b"\n", b"\n"):
        assert stream.feed(event) == event
    assert stream.feed(b"data: " + SECRET + b"\n\nda") == b"data: " + MARK + b"\n\n"
    assert stream.finish() == b"da"


@given(st.data(), st.integers(8, 60), st.lists(st.integers(0, 5000), max_size=12))
def test_what_waits_follows_from_lengths_and_line_ends_alone(
    data: st.DataObject, size: int, cuts: list[int]
) -> None:
    letters = st.text("abcXYZ019", min_size=size, max_size=size).map(str.encode)
    ours, others = (data.draw(st.lists(letters, min_size=1, max_size=3)) for _ in range(2))
    found, other = scrubber(*ours), scrubber(*others)
    forms = [form for value in (*ours, *others) for form in needles(value)]
    beginnings = st.builds(
        lambda form, left_out: form[:-left_out], st.sampled_from(forms), st.integers(1, 20)
    )
    parts = st.lists(beginnings | st.sampled_from([b"\n", b"x" * 300]) | noise, max_size=12)
    text = b"".join(data.draw(parts))
    assume(not found.holds(text) and not other.holds(text))
    waits = FULL - found.settled(bytes(FULL))
    passed, stream, others_stream = b"", found.stream(), other.stream()
    for piece in pieces(text, cuts):
        gone = stream.feed(piece)
        assert gone == others_stream.feed(piece)
        passed += gone
    assert passed == text[: max(0, len(text) - waits, text.rfind(b"\n") + 1)]


@pytest.mark.parametrize("needle", needles(SECRET))
def test_a_beginning_waits_no_longer_and_no_shorter_than_another_text(needle: bytes) -> None:
    for length in range(1, len(needle)):
        right = needle[:length]
        wrong = right[:-1] + bytes([right[-1] ^ 1])
        for before in (b"", b"line\n", b"x" * FULL):
            stream, other = scrubber(SECRET).stream(), scrubber(SECRET).stream()
            passed = stream.feed(before + right)
            assert passed == other.feed(before + wrong)
            assert passed + stream.finish() == before + right


def test_the_exact_length_of_a_secret_is_not_to_be_read_from_what_waits() -> None:
    waits = {FULL - scrubber(b"k" * size).settled(bytes(FULL)) for size in range(8, 43)}
    assert waits == {256}
    assert FULL - scrubber(b"k" * 43).settled(bytes(FULL)) == 512


def test_a_form_with_a_line_end_in_it_is_taken_out_of_a_stream() -> None:
    secret = "sk_\u010a_live_hunter2"
    form = secret.encode("utf-16-be")
    assert b"\n" in form
    stream = scrubber(secret.encode()).stream()
    assert streamed(stream, [bytes([byte]) for byte in form]) == MARK


def test_a_secret_in_two_events_is_taken_out_when_it_is_whole() -> None:
    stream = scrubber(SECRET).stream()
    assert stream.feed(b"data: sk_live_") == b""
    assert stream.feed(b"hunter2/hunter2 ok") == b""
    assert stream.feed(b"\n") == b"data: " + MARK + b" ok\n"
    assert stream.count == 1


def test_a_secret_that_begins_before_the_end_that_waits_goes_whole() -> None:
    stream = scrubber(SECRET).stream()
    assert stream.feed(b"x" + SECRET + b"y" * 250) == b"x" + MARK
    assert stream.feed(b"\n") == b"y" * 250 + b"\n"


def test_a_longer_secret_wins_over_its_beginning() -> None:
    found = scrubber(b"hunter2-", b"hunter2-and-more")
    assert found.clean(b"hunter2-and-more").data == MARK
    assert streamed(found.stream(), [b"hunter2-", b"and-more"]) == MARK
    assert streamed(found.stream(), [b"hunter2-", b"and-less"]) == MARK + b"and-less"


def test_a_secret_at_the_very_end_is_taken_out() -> None:
    stream = scrubber(b"hunter2-", b"hunter2-and-more").stream()
    assert stream.feed(b"x hunter2-") == b""
    assert stream.finish() == b"x " + MARK
    assert stream.count == 1


@given(secrets, st.binary(max_size=40), st.integers(0, 200))
def test_of_a_secret_that_began_in_what_was_sent_the_rest_goes(
    values: list[bytes], before: bytes, cut: int
) -> None:
    found, text = scrubber(*values), before + values[0] + b" end"
    cut %= len(text) - 4
    sent = found.clean(text[:cut]).data
    clean = found.after(sent[-found.reach :], text[cut:])
    assert not found.holds(sent + clean.data)
    assert clean.data.endswith(b" end")


def test_a_secret_that_a_mark_holds_is_not_found_in_the_mark_again() -> None:
    found = scrubber(b"ghost", SECRET)
    sent = found.after(b"hi", b"a ghost").data
    assert sent == b"a " + MARK
    assert found.after(sent, b"hi") == (b"hi", 0)


def test_short_secrets_are_counted() -> None:
    found = scrubber(b"", b"pin", b"hunter2-")
    assert found.short == 1
    assert found.clean(b"my pin").data == b"my " + MARK


def test_no_secrets_find_nothing() -> None:
    assert scrubber().clean(b"text") == (b"text", 0)
    assert scrubber(b"").stream().feed(b"text") == b"text"


def test_nothing_shows_a_secret() -> None:
    stream = scrubber(SECRET).stream()
    stream.feed(SECRET[:9])
    assert "sk_live" not in f"{scrubber(SECRET)!r} {stream!r}"
