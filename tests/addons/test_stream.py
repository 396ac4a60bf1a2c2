"""Which bodies are held and which pass through."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mitmproxy import http

from ghost_addons import stream
from ghost_addons.action import Action
from ghost_addons.hidden import Secrets
from ghost_addons.leak import LeakedError, Outflow
from ghost_core.errors import DeniedError
from ghost_core.secret import SecretBytes
from ghost_ledger.commitment import Commitment, check

LIMIT = 5_000_000


def request(method: str = "POST", version: str = "HTTP/1.1", **headers: str) -> http.Request:
    made = http.Request.make(method, "https://api.test/x")
    made.http_version, made.headers = version, http.Headers(**headers)
    return made


def reply(status: int = 200, **headers: str) -> http.Response:
    made = http.Response.make(status)
    made.headers = http.Headers(**headers)
    return made


@pytest.mark.parametrize("text", ["", "-1", "+5", "1_0", "0x10", "٣", "5, 5", "5.0"])
def test_only_plain_digits_declare_a_length(text: str) -> None:
    assert stream.declared_length(request(content_length=text)) is None
    assert stream.declared_length(request(content_length="005")) == 5


def test_a_small_body_of_known_length_is_held_and_a_large_one_streams() -> None:
    for size, held in ((0, True), (stream.HELD_REQUEST_BYTES, True), (1_000_001, False)):
        made = request(content_length=str(size))
        assert stream.holds_request(made, needs_body=False, limit=LIMIT) is held


def test_a_body_that_a_rule_must_see_is_held_up_to_the_limit() -> None:
    assert stream.holds_request(request(content_length=str(LIMIT)), needs_body=True, limit=LIMIT)
    with pytest.raises(DeniedError) as caught:
        stream.holds_request(request(content_length=str(LIMIT + 1)), needs_body=True, limit=LIMIT)
    assert caught.value.code == "body.too_large"


@pytest.mark.parametrize(
    ("made", "held"),
    [
        (request("POST"), True),
        (request("POST", transfer_encoding="chunked"), False),
        (request("GET", transfer_encoding="chunked"), False),
        (request("GET", "HTTP/2.0"), True),
        (request("POST", "HTTP/2.0"), False),
    ],
)
def test_a_body_of_unknown_length_streams_unless_a_rule_must_see_it(
    made: http.Request, held: bool
) -> None:
    assert stream.holds_request(made, needs_body=False, limit=LIMIT) is held
    assert stream.holds_request(made, needs_body=True, limit=LIMIT)


@pytest.mark.parametrize(
    ("method", "made", "held"),
    [
        ("HEAD", reply(content_length="9000000"), True),
        ("GET", reply(204), True),
        ("GET", reply(304), True),
        ("GET", reply(101), True),
        ("GET", reply(content_length="1000000"), True),
        ("GET", reply(content_length="1000001"), False),
        ("GET", reply(), False),
        ("GET", reply(content_length="5", content_type="text/event-stream; charset=utf-8"), False),
        ("GET", reply(content_length="5", content_type="Application/GRPC+proto"), False),
    ],
)
def test_a_reply_is_held_where_it_is_small_and_ends(
    method: str, made: http.Response, held: bool
) -> None:
    assert stream.holds_reply(method, made, needs_reply=False, limit=LIMIT) is held


def test_a_gate_that_must_see_the_reply_gets_it_up_to_the_limit() -> None:
    def held(**headers: str) -> bool:
        return stream.holds_reply("GET", reply(**headers), needs_reply=True, limit=LIMIT)

    assert held(content_length=str(LIMIT), content_type="text/event-stream")
    assert not held(content_length=str(LIMIT + 1))
    assert held()
    assert not held(content_type="text/event-stream")


def test_a_streamed_request_is_committed_to_and_counted(
    action_of: Callable[..., Action], secrets: Secrets
) -> None:
    commitment = Commitment("request_body")
    action = action_of(request_body=commitment)
    outflow = Outflow(secrets, action, b"")
    relay = stream.hashing(action, outflow, on_error=lambda _: None)
    assert (
        b"".join(each for part in (b"one", b"", b"two", b"") for each in relay(part)) == b"onetwo"
    )
    assert action.sent == 6
    assert check("request_body", commitment.salt, b"onetwo", commitment.hex())


@pytest.mark.parametrize("pieces", [(b"a bad c",), (b"a ", b"bad", b" c"), (b"bad",)])
def test_what_is_hit_does_not_go_on(pieces: tuple[bytes, ...]) -> None:
    closed: list[bool] = []
    watch = stream.watching(
        lambda chunk: [chunk] if chunk else [],
        hit=lambda each: b"bad" in each,
        close=lambda: closed.append(True),
    )
    passed = [part for piece in (*pieces, b"more", b"") for part in watch(piece)]
    assert b"bad" not in b"".join(passed)
    assert b"more" not in b"".join(passed)
    assert all(passed), "an empty piece would end the body"
    assert closed == [True]


def test_what_is_not_hit_passes_whole() -> None:
    watch = stream.watching(
        lambda chunk: [chunk] if chunk else [], hit=lambda _: False, close=lambda: None
    )
    assert [watch(each) for each in (b"a", b"", b"b")] == [[b"a"], [], [b"b"]]


def test_a_form_is_one_by_any_of_its_types() -> None:
    def kinds(*values: bytes) -> http.Request:
        made = request()
        made.headers.set_all("content-type", [value.decode() for value in values])
        return made

    form, parts = b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=b"
    assert stream.is_form(kinds(b"application/json", form))
    assert stream.is_multipart(kinds(parts, b"text/plain"))
    assert not stream.is_form(kinds(b"application/json"))
    assert not stream.is_multipart(kinds(form))


def test_a_request_that_may_not_go_on_is_cut_and_stays_cut(
    action_of: Callable[..., Action], secrets: Secrets
) -> None:
    secrets.hide(SecretBytes(b"sk_live_4242424242"), owner="demo")
    action = action_of(request_body=Commitment("request_body"))
    errors: list[Exception] = []
    relay = stream.hashing(action, Outflow(secrets, action, b""), on_error=errors.append)
    passed = [each for part in (b"a\nsk_live_42", b"42424242 b", b"c", b"") for each in relay(part)]
    assert (passed, action.sent, len(errors)) == ([b"a\n"], 2, 1)
    assert isinstance(errors[0], LeakedError)


@pytest.mark.parametrize(
    ("version", "framing"), [("HTTP/1.1", "chunked"), ("HTTP/1.0", None), ("HTTP/2.0", None)]
)
def test_a_body_that_will_change_loses_its_length(version: str, framing: str | None) -> None:
    made = reply(content_length="5", transfer_encoding="chunked")
    stream.unframe(request(version=version), made)
    assert "content-length" not in made.headers
    assert made.headers.get("transfer-encoding") == framing


def test_nothing_goes_on_once_the_outcome_is_entered(
    action_of: Callable[..., Action], secrets: Secrets
) -> None:
    action = action_of(request_body=Commitment("request_body"))
    errors: list[Exception] = []
    relay = stream.hashing(action, Outflow(secrets, action, b""), on_error=errors.append)
    assert relay(b"one\n") == [b"one\n"]
    action.settled = True
    assert [relay(b"two\n"), relay(b"")] == [[], []]
    assert (action.sent, len(errors)) == (4, 1)


def test_a_streamed_request_that_ends_before_its_length_is_an_error(
    action_of: Callable[..., Action], secrets: Secrets
) -> None:
    errors: list[Exception] = []
    for declared, pieces in ((6, (b"one", b"two")), (7, (b"one", b"two")), (5, ())):
        action = action_of(request_body=Commitment("request_body"))
        outflow = Outflow(secrets, action, b"")
        relay = stream.hashing(action, outflow, on_error=errors.append, declared=declared)
        for piece in (*pieces, b""):
            relay(piece)
        assert len(errors) == {6: 0, 7: 1, 5: 2}[declared]
