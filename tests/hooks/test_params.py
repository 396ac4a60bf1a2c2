"""Parameters as sent, read in one way or refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import UsageError
from ghost_hooks import params
from ghost_hooks.params import (
    FIELD_LIMIT,
    Json,
    Kind,
    UnreadableError,
    as_number,
    encode,
    of_reply,
    of_request,
    parse_json,
    text_of,
)
from ghost_hooks.request import Headers, Reply, Request
from ghost_hooks.target import Target

_JSON: Headers = ((b"content-type", b"application/json; charset=utf-8"),)
_FORM: Headers = ((b"content-type", b"application/x-www-form-urlencoded"),)


def _request(body: bytes | None = b"", *, query: str = "", headers: Headers = ()) -> Request:
    return Request("POST", Target("https", "a.example", 443, "/", query), headers, body)


def test_json_is_typed_and_its_numbers_exact() -> None:
    params = of_request(_request(b'{"amount":1.10}', headers=_JSON), "json")
    assert params.typed
    assert params.values == {"amount": Decimal("1.10")}


def test_a_vendor_json_type_is_json() -> None:
    headers = ((b"Content-Type", b"application/vnd.api+json"),)
    assert of_request(_request(b"[1]", headers=headers), None).values == [1]


def test_a_form_joins_query_and_body() -> None:
    params = of_request(_request(b"amount=5", query="amount=9&b=1", headers=_FORM), "form")
    assert not params.typed
    assert params.values == {"amount": ["9", "5"], "b": "1"}


def test_without_a_body_the_query_is_what_was_sent() -> None:
    for kind in ("json", "form", "query", None):
        params = of_request(_request(query="a=1+2&c=%C3%A9"), kind)  # type: ignore[arg-type]
        assert params.values == {"a": "1 2", "c": "é"}


@pytest.mark.parametrize(
    ("body", "values"),
    [
        (b"a[b][c]=1", {"a": {"b": {"c": "1"}}}),
        (b"a[]=1&a[]=2", {"a": ["1", "2"]}),
        (b"a[0][x]=1&a[1][x]=2", {"a": [{"x": "1"}, {"x": "2"}]}),
        (b"a=1&a=2&a=3", {"a": ["1", "2", "3"]}),
        (b"a&b=", {"a": "", "b": ""}),
        (b"a[=1&&]b=2", {"a[": "1", "]b": "2"}),
        (b"a%5Bb%5D=1", {"a": {"b": "1"}}),
        (b"[]=1", {"[]": "1"}),
    ],
)
def test_form_names_build_groups_and_lists(body: bytes, values: Json) -> None:
    assert of_request(_request(body, headers=_FORM), "form").values == values


@pytest.mark.parametrize(
    ("body", "headers", "kind", "status", "code"),
    [
        (b'{"a":1,"a":2}', _JSON, "json", 400, "params.ambiguous"),
        (b"{", _JSON, "json", 400, "params.malformed"),
        (b'{"a":NaN}', _JSON, "json", 400, "params.malformed"),
        (b"[" * 200_000, _JSON, "json", 400, "params.malformed"),
        (b"1" * 5000, _JSON, "json", 400, "params.malformed"),
        (b'"\xff"', _JSON, "json", 400, "params.malformed"),
        (b"a=1", _JSON, "form", 415, "params.media"),
        (b"{}", _FORM, "json", 415, "params.media"),
        (b"{}", (), "json", 415, "params.media"),
        (b"x", ((b"content-type", b"multipart/form-data"),), None, 415, "params.media"),
        (b"{}", (*_JSON, (b"content-encoding", b"gzip")), "json", 415, "params.encoding"),
        (
            b"{}",
            ((b"content-type", b"application/json; charset=utf-16"),),
            None,
            415,
            "params.encoding",
        ),
        (
            b"{}",
            ((b"content-type", b"application/json; charset=utf-8; charset=utf-16"),),
            None,
            415,
            "params.encoding",
        ),
        (b"{}", (*_JSON, *_JSON), None, 415, "params.encoding"),
        (b"a=1", (*_FORM, *_JSON), "form", 415, "params.encoding"),
        (b"a=1", _FORM, "query", 400, "params.ambiguous"),
        (b"a=1;b=2", _FORM, "form", 400, "params.ambiguous"),
        (b"a=1&a[b]=2", _FORM, "form", 400, "params.ambiguous"),
        (b"a[b]=1&a=2", _FORM, "form", 400, "params.ambiguous"),
        (b"a" + b"[b]" * 20 + b"=1", _FORM, "form", 400, "params.ambiguous"),
        (b"&".join([b"a=1"] * (FIELD_LIMIT + 1)), _FORM, "form", 400, "params.ambiguous"),
        (b"a=%ff", _FORM, "form", 400, "params.malformed"),
        (b"a=\xff", _FORM, "form", 400, "params.malformed"),
        (None, _JSON, "json", 500, "params.streamed"),
    ],
)
def test_what_can_be_read_in_two_ways_or_none_is_refused(
    body: bytes | None, headers: Headers, kind: Kind | None, status: int, code: str
) -> None:
    with pytest.raises(UnreadableError) as caught:
        of_request(_request(body, headers=headers), kind)
    assert (caught.value.status, caught.value.code) == (status, code)


def test_a_reply_is_read_as_json_only() -> None:
    assert of_reply(Reply(200, _JSON, b'{"a":1}')) == {"a": 1}
    with pytest.raises(UnreadableError) as caught:
        of_reply(Reply(200, ((b"content-type", b"text/html"),), b"<p>"))
    assert caught.value.status == 502


@given(st.binary(max_size=40))
def test_json_is_read_or_refused_and_nothing_else(data: bytes) -> None:
    try:
        parse_json(data)
    except UnreadableError:
        return


def test_parameters_are_written_as_json_form_and_query() -> None:
    values = {"a": 1, "b": ["x", {"c": True}], "d": {"e": "f&g"}, "n": None}
    assert encode("json", values) == '{"a":1,"b":["x",{"c":true}],"d":{"e":"f&g"},"n":null}'
    assert encode("form", values) == "a=1&b[]=x&b[1][c]=true&d[e]=f%26g"
    assert encode("query", {"a": ["x", "y"], "b": False}) == "a=x&a=y&b=false"


def test_what_has_no_text_is_refused() -> None:
    assert text_of("a", Decimal("1.5")) == "1.5"
    with pytest.raises(UsageError):
        text_of("a", object())
    with pytest.raises(UsageError):
        encode("query", {"a": [{"b": 1}]})


@given(st.dictionaries(st.text("abc", min_size=1), st.text(max_size=10), max_size=5))
def test_a_written_form_is_read_back(values: dict[str, str]) -> None:
    body = encode("form", values).encode()
    assert of_request(_request(body, headers=_FORM), "form").values == values


def test_a_field_of_too_many_steps_is_refused_unread() -> None:
    request = _request(f"a{'[]' * 16}=1".encode(), headers=_FORM)
    with pytest.raises(UnreadableError, match="deeper than 16"):
        of_request(request, "form")
    assert of_request(_request(f"a{'[b]' * 15}=1".encode(), headers=_FORM), "form").values


@pytest.mark.parametrize("text", ['{"a":"%s"}', '{"%s":1}', '["%s"]'])
def test_json_of_too_many_escapes_is_not_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(params, "ESCAPE_LIMIT", 10)
    assert parse_json((text % ("\\n" * 10)).encode())
    with pytest.raises(UnreadableError) as caught:
        parse_json((text % ("\\n" * 11)).encode())
    assert (caught.value.code, caught.value.status) == ("params.long", 413)


@pytest.mark.parametrize("text", ["1.%s", "-0.%se5", "%s", "%s.5"])
def test_a_number_of_too_many_digits_is_none(text: str) -> None:
    few, many = text % ("1" * 4000), text % ("1" * 4400)
    assert parse_json(few.encode())
    assert as_number(few) != few or "e" in few
    assert as_number(many) == many
    with pytest.raises(UnreadableError) as caught:
        parse_json(many.encode())
    assert caught.value.code == "params.malformed"
