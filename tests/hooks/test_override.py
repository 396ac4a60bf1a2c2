"""What asks a server for another method than the one that was judged, in every spelling that one reads."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from ghost_hooks.override import (
    asks_otherwise,
    form_watch,
    kind_of,
    may_be_form,
    names_method,
    part_watch,
)
from ghost_hooks.params import FIELD_LIMIT
from ghost_hooks.request import Request
from ghost_hooks.target import Target

FORM = "application/x-www-form-urlencoded"
NAMES = (
    "_method",
    "_METHOD",
    "%5Fmethod",
    "+_method",
    ".method",
    "[method",
    "_method%00x",
    "_method[]",
    "_HttpMethod",
    "X-HTTP-Method-Override",
    "x_http_method",
    "X-Tunneled-Method",
)


def code(query: str = "", body: bytes = b"", kind: str = FORM, method: str = "POST") -> str:
    """Return the code of the refusal, empty if there is none."""
    headers = ((b"content-type", kind.encode()),) if kind else ()
    target = Target("https", "api.test", 443, "/x", query)
    verdict = asks_otherwise(Request(method, target, headers, body))
    return verdict.code if verdict else ""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("before", ["", "a=1&", "a=1;"])
def test_each_name_is_found_in_query_and_form(name: str, before: str) -> None:
    text = f"{before}{name}=DELETE"
    assert code(query=text) == code(body=text.encode()) == "request.method_override"
    assert code(body=text.encode(), kind="") == "request.method_override"


@pytest.mark.parametrize(
    "name", ["method", "payment_method", "methods", "_methodology", "x-method"]
)
def test_other_names_are_left_alone(name: str) -> None:
    text = f"{name}=DELETE"
    assert code(query=text) == code(body=text.encode()) == ""


def test_the_judged_method_may_be_named() -> None:
    assert code(body=b"_method=post&_method=") == ""


def test_a_body_without_a_type_is_a_form_in_a_post_only() -> None:
    assert may_be_form("POST", b"")
    assert not may_be_form("PUT", b"")
    assert code(body=b"_method=DELETE", kind="", method="PUT") == ""


@pytest.mark.parametrize("name", ["_m\u00e9thod", "_\u200bmethod"])
def test_a_name_is_found_in_raw_bytes_as_in_escapes(name: str) -> None:
    sent = [f"{name}=DELETE".encode(), f"{quote(name)}=DELETE".encode()]
    assert [code(body=each) for each in sent] == ["request.method_override"] * 2


def test_a_name_is_found_in_latin_1() -> None:
    assert code(body=b"_m\xe9thod=DELETE") == "request.method_override"


@pytest.mark.parametrize(
    "charset", ["utf-16", "ibm037", '"utf-7"', "utf-8; charset=cp037", "x-any"]
)
@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=b"])
def test_a_charset_that_hides_names_is_refused(kind: str, charset: str) -> None:
    assert code(kind=f"{kind}; charset={charset}") == "params.encoding"
    assert code(kind=f"{kind}; charset*=utf-8''{charset}") == "params.encoding"


@pytest.mark.parametrize("charset", ["utf-8", '"UTF-8"', "iso-8859-1", "gbk", "Shift_JIS", ""])
def test_charsets_in_which_names_are_ascii_pass(charset: str) -> None:
    assert code(kind=f"{FORM}; charset={charset}", body=b"a=1") == ""


@pytest.mark.parametrize(
    "disposition",
    [
        'name="_method"',
        "NAME = _Method",
        'name=".method"',
        'name=" _method"',
        'name=="_method"',
        'name="_\\method"',
        "name*=utf-8''%5Fmethod",
        'name*0="_met"; name*1="hod"',
        'name="=?utf-8?B?X21ldGhvZA==?="',
        'name="X-HTTP-Method-Override"',
        'name="_HttpMethod"',
        'name="[_method]"',
        'name="[[]_Method"',
    ],
)
def test_a_part_is_found_however_its_name_is_written(disposition: str) -> None:
    assert names_method(f"--b\r\nContent-Disposition: form-data; {disposition}\r\n\r\nx".encode())


@pytest.mark.parametrize(
    "disposition",
    [
        "name=file; filename*=utf-8''_method",
        'name="payment_method"',
        'name="x"; filename="=?utf-8?Q?a?="',
        'name="method"',
        'name="x-methodical"',
    ],
)
def test_other_parts_are_left_alone(disposition: str) -> None:
    assert not names_method(f"Content-Disposition: form-data; {disposition}".encode())


def test_a_form_in_pieces_is_watched() -> None:
    hit = form_watch()
    assert not hit(b"payment_method=card&a=1&_met")
    assert hit(b"hod=DELETE")


LONG = [
    [b"[" * 300, b"_method"],
    [b"%20" * 99 + b"%5", b"Fmethod"],
    [b"+" * 400, b"[" * 400, b"_me", b"thod"],
    [b"_method%00" + b"x" * 300, b"y"],
    [b"_method[" + b"x" * 300, b"]"],
]


@pytest.mark.parametrize("pieces", LONG, ids=[str(each) for each in range(len(LONG))])
def test_a_name_of_any_length_is_watched(pieces: list[bytes]) -> None:
    hit = form_watch()
    assert not any(hit(each) for each in (b"a=1&", *pieces))
    assert hit(b"=DELETE")


@pytest.mark.parametrize(
    "begin", [b"x" * 300, b"%C3%A9" * 100, b"a=" + b"[" * 300, b"\xd0\xb6" * 300]
)
def test_another_name_or_a_value_of_any_length_is_left_alone(begin: bytes) -> None:
    hit = form_watch()
    assert not any(hit(each) for each in (begin, b"_method=x", b"&payment_method=y"))


@pytest.mark.parametrize(
    "pieces",
    [
        ["name=" + " " * 300, '"_method"'],
        ["name" + "\t " * 300, '="_method"'],
        ['name="_me' + "\\" * 300, 'thod"'],
        ['name="' + "[" * 300, '_method"'],
        ["name*" + "0" * 10, "*=utf-8''x"],
        ['name="=?ut', 'f-8?Q?a?="'],
    ],
)
def test_parts_in_pieces_are_watched(pieces: list[str]) -> None:
    hit = part_watch()
    found = [hit(each.encode()) for each in ("--b\r\nContent-Disposition: form-data; ", *pieces)]
    assert any(found)


def test_other_parts_in_pieces_are_left_alone() -> None:
    hit = part_watch()
    parts = (b'; name="payment', b'_method"; filename="', b'_method"\r\n\r\n', b"a == b" * 99)
    assert not any(map(hit, parts))


@pytest.mark.parametrize("name", ["x.http.method.override", "X~HTTP~METHOD", "x_method_override"])
def test_a_header_is_found_by_the_variable_that_servers_make_of_it(name: str) -> None:
    asked = Request("POST", Target.parse("https://api.test/x"), ((name.encode(), b"DELETE"),), b"")
    found = asks_otherwise(asked)
    assert found is not None
    assert found.code == "request.method_override"


@pytest.mark.parametrize("place", ["query", "form"])
def test_more_fields_than_anybody_reads_are_refused(place: str) -> None:
    many = "a=1&" * FIELD_LIMIT
    target = Target("https", "api.test", 443, "/x", many if place == "query" else "")
    body = many.encode() if place == "form" else b""
    found = asks_otherwise(Request("POST", target, ((b"content-type", FORM.encode()),), body))
    assert found is not None
    assert (found.code, found.status) == ("params.long", 413)


def test_a_body_without_a_type_that_names_no_method_is_not_read_as_a_form() -> None:
    asked = Request("POST", Target.parse("https://api.test/x"), (), b"&;" * FIELD_LIMIT)
    assert asks_otherwise(asked) is None


def test_a_name_cut_in_two_is_not_another() -> None:
    hit = form_watch()
    assert not hit(b"payment")
    assert not hit(b"_method=card&a=1")


@pytest.mark.parametrize("name", NAMES)
def test_a_form_that_begins_so_is_found(name: str) -> None:
    assert form_watch()(f"{name}=DELETE".encode())


def test_of_several_lines_all_say_the_type() -> None:
    lines = ((b"Content-Type", b"text/plain"), (b"Content_Type", FORM.encode()))
    assert kind_of(lines) == f"text/plain,{FORM}".encode()
