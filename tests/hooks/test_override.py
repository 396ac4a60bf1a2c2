"""What asks a server for another method than the one that was judged, in every spelling that one reads."""

from __future__ import annotations

import pytest

from ghost_hooks.override import asks_otherwise, form_watch, kind_of, may_be_form, names_method
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
    assert hit(b"&a=1&_method=DELETE")


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
