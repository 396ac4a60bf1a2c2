from __future__ import annotations

import base64
import json
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.secret import SecretBytes
from ghost_credentials.needles import needles
from ghost_credentials.scrub import MARK, Scrubber, StreamScrubber

SECRET = b"sk_live_hunter2/hunter2"

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
noise = st.binary(max_size=60)


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


@given(st.data(), secrets, st.lists(st.integers(0, 2000), max_size=12))
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
    text = data.draw(st.text("ab", max_size=60)).encode()
    cuts = data.draw(st.lists(st.integers(0, 60), max_size=10))
    assert streamed(found.stream(), pieces(text, cuts)) == found.clean(text).data


def test_an_event_without_the_beginning_of_a_secret_passes_at_once() -> None:
    event = b'data: {"delta": "hello"}\n\n'
    assert scrubber(SECRET).stream().feed(event) == event


@pytest.mark.parametrize("needle", needles(SECRET))
def test_only_the_real_beginning_of_a_form_waits(needle: bytes) -> None:
    for length in range(1, len(needle)):
        stream = scrubber(SECRET).stream()
        passed = stream.feed(b"<" + needle[:length])
        assert passed == b"<"
        assert passed + stream.finish() == b"<" + needle[:length]


def test_a_secret_in_two_events_is_taken_out_when_it_is_whole() -> None:
    stream = scrubber(SECRET).stream()
    assert stream.feed(b"data: sk_live_") == b"data: "
    assert stream.feed(b"hunter2/hunter2 ok") == MARK + b" ok"
    assert stream.count == 1


def test_a_longer_secret_wins_over_its_beginning() -> None:
    found = scrubber(b"hunter2-", b"hunter2-and-more")
    assert found.clean(b"hunter2-and-more").data == MARK
    assert streamed(found.stream(), [b"hunter2-", b"and-more"]) == MARK
    assert streamed(found.stream(), [b"hunter2-", b"and-less"]) == MARK + b"and-less"


def test_a_secret_at_the_very_end_is_taken_out() -> None:
    stream = scrubber(b"hunter2-", b"hunter2-and-more").stream()
    assert stream.feed(b"x hunter2-") == b"x "
    assert stream.finish() == MARK
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
