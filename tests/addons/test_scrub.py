"""What is cleaned before the agent sees it: headers, bodies, trailers."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from mitmproxy import http

from ghost_addons import scrub
from ghost_addons.action import Action
from ghost_core.errors import FailedError
from ghost_core.secret import SecretBytes
from ghost_credentials.scrub import MARK, Scrubber
from ghost_ledger.commitment import Commitment, check

SECRET = b"sk_live_4242424242"
TOKEN = b"ghwire_AAAABBBBCCCCDDDD"
SCRUBBER = Scrubber((SecretBytes(SECRET),))

type Maker = Callable[..., Action]


def reply(body: bytes = b"", status: int = 200, **headers: str) -> http.Response:
    made = http.Response.make(status)
    made.raw_content, made.headers = body, http.Headers(**headers)
    return made


def opened(action: Action, response: http.Response, *, mode: str = "redact") -> None:
    scrub.open_body(action, response, lambda: SCRUBBER, mode=mode, limit=1_000_000)


def relayed(action: Action, *chunks: bytes, excerpt: int = 0) -> tuple[bytes, list[Exception]]:
    """Return what of a streamed body comes out, and the errors that were reported."""
    errors: list[Exception] = []
    relay = scrub.streaming(action, excerpt=excerpt, on_error=errors.append)
    pieces = [piece for chunk in (*chunks, b"") for piece in relay(chunk)]
    assert all(pieces), "an empty chunk would end the body"
    return b"".join(pieces), errors


def test_headers_of_this_hop_end_here_and_the_rest_passes(action_of: Maker) -> None:
    response = reply(alt_svc='h3=":443"', keep_alive="1", x_one="1", proxy_authenticate="x")
    scrub.clean_headers(action_of(), response, SCRUBBER)
    assert response.headers.fields == ((b"x-one", b"1"),)


def test_a_secret_in_a_header_or_in_the_reason_becomes_a_mark(action_of: Maker) -> None:
    action, response = action_of(), reply(location="/?k=" + SECRET.decode())
    response.data.reason = SECRET
    scrub.clean_headers(action, response, SCRUBBER)
    assert response.headers["location"] == "/?k=" + MARK.decode()
    assert (response.data.reason, action.scrubbed) == (MARK, 2)


def test_a_line_whose_name_holds_a_secret_is_dropped(action_of: Maker) -> None:
    action, response = action_of(), reply(x_one="1")
    response.headers[f"x-{SECRET.decode()}"] = "2"
    response.trailers = http.Headers([(SECRET, b"3"), (b"x-two", b"4")])
    scrub.clean_headers(action, response, SCRUBBER)
    scrub.clean_trailers(action, response, SCRUBBER, version="HTTP/2.0")
    assert response.headers.fields == ((b"x-one", b"1"),)
    assert response.trailers.fields == ((b"x-two", b"4"),)
    assert action.scrubbed == 2


def test_our_own_token_in_a_header_becomes_a_mark(action_of: Maker) -> None:
    action, response = action_of(wire_token=TOKEN), reply(x_echo=TOKEN.decode())
    scrub.clean_headers(action, response, SCRUBBER)
    assert response.headers["x-echo"] == MARK.decode()
    assert action.scrubbed == 1


def test_the_beginning_of_a_token_alone_is_left_as_it_is(action_of: Maker) -> None:
    action = action_of(wire_token=TOKEN)
    assert scrub.hide_token(action, b"what is ghwire_?") == b"what is ghwire_?"
    assert scrub.hide_token(action, b"nothing") == b"nothing"
    assert scrub.hide_token(action_of(), TOKEN) == TOKEN
    assert action.scrubbed == 0


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_a_reply_without_a_body_keeps_its_headers(
    method: str, status: int, action_of: Maker
) -> None:
    action = action_of(method)
    response = reply(status=status, content_encoding="gzip", content_length="99", etag="e")
    opened(action, response)
    scrub.buffered(action, response, excerpt=0)
    assert action.scrub is None
    assert dict(response.headers) == {
        "content-encoding": "gzip",
        "content-length": "99",
        "etag": "e",
    }


def test_a_held_body_is_decoded_cleaned_and_measured_anew(action_of: Maker) -> None:
    commitment = Commitment("response")
    action = action_of(response=commitment, wire_token=TOKEN)
    body = b"a" + SECRET + b"b" + TOKEN
    response = reply(gzip.compress(body), content_encoding="gzip", transfer_encoding="chunked")
    opened(action, response)
    scrub.buffered(action, response, excerpt=3)
    clean = b"a" + MARK + b"b" + MARK
    assert response.raw_content == clean
    assert dict(response.headers) == {"content-length": str(len(clean))}
    assert (action.scrubbed, action.received, bytes(action.response_excerpt)) == (
        2,
        len(clean),
        clean[:3],
    )
    text = action.response_head + clean
    assert check("response", commitment.salt, text, commitment.hex())


def test_an_empty_body_stays_as_it_is_framed(action_of: Maker) -> None:
    action, response = action_of(), reply(content_length="0")
    opened(action, response)
    scrub.buffered(action, response, excerpt=10)
    assert (response.raw_content, response.headers["content-length"]) == (b"", "0")


@pytest.mark.parametrize("mode", ["redact", "refuse"])
def test_a_coding_that_cannot_be_undone_is_refused(mode: str, action_of: Maker) -> None:
    with pytest.raises(FailedError) as caught:
        opened(action_of(), reply(b"x", content_encoding="x-odd"), mode=mode)
    assert caught.value.code == "body.coding"


@pytest.mark.parametrize("mode", ["redact", "refuse"])
def test_a_charset_that_is_not_searched_is_refused(mode: str, action_of: Maker) -> None:
    with pytest.raises(FailedError) as caught:
        opened(action_of(), reply(b"x", content_type="text/plain; charset=IBM037"), mode=mode)
    assert caught.value.code == "body.charset"


def test_under_mark_a_charset_passes_with_a_flag_and_is_searched_all_the_same(
    action_of: Maker,
) -> None:
    action, response = action_of(), reply(SECRET, content_type="text/plain; charset=IBM037")
    opened(action, response, mode="mark")
    scrub.buffered(action, response, excerpt=0)
    assert (action.flags, SECRET in (response.raw_content or b"")) == (["uninspected"], False)


def test_under_mark_it_passes_with_a_flag(action_of: Maker) -> None:
    action, response = action_of(), reply(b"x", content_encoding="x-odd")
    opened(action, response, mode="mark")
    scrub.buffered(action, response, excerpt=0)
    assert (action.flags, response.headers["content-encoding"]) == (["uninspected"], "x-odd")
    assert relayed(action, b"raw")[0] == b"raw"


def test_a_secret_that_is_split_over_pieces_becomes_a_mark(action_of: Maker) -> None:
    action = action_of()
    opened(action, reply())
    out, errors = relayed(action, b"a" + SECRET[:5], SECRET[5:9], SECRET[9:] + b"b")
    assert (out, errors, action.scrubbed) == (b"a" + MARK + b"b", [], 1)


def test_a_token_that_is_split_over_pieces_becomes_a_mark(action_of: Maker) -> None:
    action = action_of(wire_token=TOKEN)
    opened(action, reply())
    out, _ = relayed(action, b"a" + TOKEN[:9], TOKEN[9:])
    assert (out, action.scrubbed) == (b"a" + MARK, 1)


def test_a_streamed_body_is_committed_to_and_its_beginning_kept(action_of: Maker) -> None:
    commitment = Commitment("response")
    action = action_of(response=commitment)
    opened(action, reply())
    relayed(action, b"one", b"two", b"three", excerpt=5)
    assert (bytes(action.response_excerpt), action.received) == (b"onetw", 11)
    assert check("response", commitment.salt, b"onetwothree", commitment.hex())


def test_a_stream_that_cannot_be_decoded_is_cut_and_stays_cut(action_of: Maker) -> None:
    action = action_of()
    opened(action, reply(content_encoding="gzip"))
    out, errors = relayed(action, b"this is not gzip", SECRET)
    assert out == b""
    assert len(errors) == 1


def test_trailers_are_scrubbed_like_headers(action_of: Maker) -> None:
    action, response = action_of(), reply()
    scrub.clean_trailers(action, response, SCRUBBER, version="HTTP/2.0")
    assert response.trailers is None
    response.trailers = http.Headers(grpc_status="0", grpc_message=SECRET.decode())
    scrub.clean_trailers(action, response, SCRUBBER, version="HTTP/2.0")
    assert response.trailers is not None
    assert response.trailers.fields == ((b"grpc-status", b"0"), (b"grpc-message", MARK))
    assert action.scrubbed == 1


def test_a_client_of_http_1_gets_no_trailers(action_of: Maker) -> None:
    response = reply()
    response.trailers = http.Headers(grpc_status="0")
    scrub.clean_trailers(action_of(), response, SCRUBBER, version="HTTP/1.1")
    assert response.trailers is None
