"""Content types are read in one way or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.media import content_type, utf8_type


@pytest.mark.parametrize(
    ("text", "media", "parameters"),
    [
        ("application/json", "application/json", {}),
        ("Application/JSON ; Charset=UTF-8", "application/json", {"charset": "UTF-8"}),
        ('text/plain;charset="utf-8";', "text/plain", {"charset": "utf-8"}),
        ('multipart/form-data; boundary="a;b\\"c"', "multipart/form-data", {"boundary": 'a;b"c'}),
        ("a/b;;x=1 ;\ty=2", "a/b", {"x": "1", "y": "2"}),
        ("application/vnd.api+json", "application/vnd.api+json", {}),
    ],
)
def test_a_type_and_its_parameters(text: str, media: str, parameters: dict[str, str]) -> None:
    assert content_type(text) == (media, parameters)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "json",
        "application/json, text/plain",
        "application/json;charset=utf-8, application/json",
        "application/json; charset=utf-8; charset=utf-16",
        "application/json; charset=utf-16; Charset=utf-8",
        "application/json; charset=utf-8; charset=utf-8",
        "multipart/form-data; boundary=a; boundary=b",
        "application/json; charset*=utf-16''x",
        "application/json; charset = utf-8",
        "application/json; charset",
        'application/json; charset="utf-8',
        'application/json; charset="utf-8"x',
        "application/json charset=utf-8",
        "application/json\x0b",
    ],
)
def test_what_readers_take_differently_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        content_type(text)


def test_a_body_is_utf_8_unless_something_else_is_said() -> None:
    for text in ("a/b", "a/b;charset=utf8", 'a/b; charset="UTF-8"', "a/b; x=utf-16"):
        assert utf8_type(text) == "a/b"
    for text in ("a/b; charset=utf-16", "a/b; charset=utf-8x", "a/b; charset="):
        with pytest.raises(ValueError, match="expected"):
            utf8_type(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        media, _ = content_type(text)
    except ValueError:
        return
    assert media == media.lower()
