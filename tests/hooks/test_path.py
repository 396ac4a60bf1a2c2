"""One spelling of a path: judged is what is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import DeniedError
from ghost_hooks.path import PATH_LIMIT, canonical_path, canonical_query, folded, readings


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("", "/"),
        ("/", "/"),
        ("/v1/charges", "/v1/charges"),
        ("/v1/charges/", "/v1/charges/"),
        ("/v1/a%2fb", "/v1/a%2Fb"),
        ("/v1/%2fa", "/v1/%2Fa"),
        ("/%76%31", "/v1"),
        ("/~me/%7Eyou", "/~me/~you"),
        ("/a%20b", "/a%20b"),
        ("/a%3ab", "/a%3Ab"),
        ("/100%25", "/100%25"),
        ("/caf\u00e9", "/caf%C3%A9"),
        ("/caf%c3%a9", "/caf%C3%A9"),
        ('/a"b<c>[d]', "/a%22b%3Cc%3E%5Bd%5D"),
        ("/a;v=1/b", "/a;v=1/b"),
        ("/...", "/..."),
        ("/.well-known/x", "/.well-known/x"),
        ("/a..b/.c", "/a..b/.c"),
        ("/a%2541", "/a%2541"),
        ("/@scope%2Fname", "/@scope%2Fname"),
    ],
)
def test_a_path_has_one_spelling(raw: str, path: str) -> None:
    assert canonical_path(raw) == path


@pytest.mark.parametrize(
    "raw",
    [
        "*",
        "v1",
        "/public/../admin",
        "/public/./admin",
        "/..",
        "/.",
        "/public/%2e%2e/admin",
        "/public/.%2E/admin",
        "/a%2eb",
        "/public/..%2fadmin",
        "/public%2f..%2Fadmin",
        "/public%2f..",
        "/%252e%252e/admin",
        "/%25252e/admin",
        "/%25%32%65/admin",
        "/a%252fb",
        "/a%255cb",
        "/a%2500",
        "//admin",
        "/a//b",
        "/a//",
        "/public\\..\\admin",
        "/public%5cadmin",
        "/public;x/../admin",
        "/public/..;x/admin",
        "/public/..%3bx/admin",
        "/a/;x/b",
        "/a%00",
        "/a%0d%0a",
        "/a%7f",
        "/a b",
        "/a\x00",
        "/a\x7f",
        "/a\r\n",
        "/a?b",
        "/a#b",
        "/a%",
        "/a%2",
        "/a%zz",
        "/%c0%ae%c0%ae/admin",
        "/%c0%af",
        "/%ff",
        "/a\udc80",
        "/" + "a" * PATH_LIMIT,
    ],
)
def test_a_path_that_could_be_read_twice_is_refused(raw: str) -> None:
    with pytest.raises(DeniedError) as caught:
        canonical_path(raw)
    assert caught.value.code == "target.path"


_PIECES = st.sampled_from(
    ["/", ".", "..", "a", "%2f", "%2F", "%2e", "%25", "2e", "%41", "%3b", ";", "é", "%c3%a9", "%"]
)


@given(st.one_of(st.text(max_size=30), st.lists(_PIECES, max_size=12).map("".join)))
def test_a_canonical_path_is_its_own_canonical_form(tail: str) -> None:
    try:
        path = canonical_path("/" + tail)
    except DeniedError:
        return
    assert canonical_path(path) == path
    assert path.isascii()
    for segment in path.replace("%2F", "/").split("/"):
        assert segment.split(";")[0] not in {".", ".."}


def test_a_query_is_kept_byte_for_byte() -> None:
    assert canonical_query("b=2&a=%2e%2E+;//") == "b=2&a=%2e%2E+;//"


def test_what_is_not_ascii_in_a_query_is_escaped() -> None:
    # one server reads the bytes as UTF-8, another one as Latin-1
    assert canonical_query("q=é&%c3=%A9") == "q=%C3%A9&%c3=%A9"


@pytest.mark.parametrize("raw", ["a b", "a\nb", "a#b", "a\x00", "a\udc80"])
def test_a_query_with_controls_is_refused(raw: str) -> None:
    with pytest.raises(DeniedError) as caught:
        canonical_query(raw)
    assert caught.value.code == "target.query"


def test_a_path_is_read_with_its_encoded_slash_kept_and_as_a_slash() -> None:
    assert folded("/a%3Adelete%2Fb") == "/a:delete%2Fb"
    assert readings("/a%3Adelete%2Fb") == ("/a:delete%2Fb", "/a:delete/b")
    assert readings("/a%3Ab") == ("/a:b",)
    assert folded("/plain") == "/plain"
