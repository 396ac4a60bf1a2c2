from __future__ import annotations

import base64

import pytest

from ghost_core.errors import ConfigError
from ghost_credentials.head import Head
from ghost_credentials.placeholder import (
    basic_pair,
    exposed,
    is_a_value,
    occurs_in,
    parse_placeholder,
    placeholder_for,
)

STAND_IN = b"sk_ghost_0001"


def test_a_name_has_one_placeholder() -> None:
    assert placeholder_for("my-stripe") == "ghost_my_stripe_placeholder"
    assert parse_placeholder(placeholder_for("x"), subject="x") == b"ghost_x_placeholder"


@pytest.mark.parametrize("text", ["short", "sk ghost 0001", "sk_ghost_0001\n", "sk_ghöst_0001"])
def test_an_unfit_placeholder_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_placeholder(text, subject="credential 'x'")
    assert caught.value.code == "credential.placeholder"


@pytest.mark.parametrize("padding", [b"", b"=", b"=="])
def test_it_is_found_inside_basic_with_and_without_padding(padding: bytes) -> None:
    pair = base64.b64encode(b"git:" + STAND_IN).rstrip(b"=")
    assert occurs_in(b"basic  " + pair + padding, STAND_IN)


def test_it_is_found_as_it_is() -> None:
    assert occurs_in(b"Bearer " + STAND_IN, STAND_IN)


@pytest.mark.parametrize("value", [b"Basic !!!", b"Basic QQQQQ", b"Bearer abc", b"", b"Basic"])
def test_it_is_not_found_in_other_values(value: bytes) -> None:
    assert not occurs_in(value, STAND_IN)


def test_a_basic_value_opens_and_closes_to_the_same() -> None:
    value = b"Basic " + base64.b64encode(b"user:pw")
    found = basic_pair(value)
    assert found is not None
    assert (found.pair, found.encoded()) == (b"user:pw", value)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("/a?k=sk_ghost_0001", b"", True),
        ("/a?k=%73k_ghost_0001", b"", True),
        ("/bot/sk_ghost_0001/x", b"", True),
        ("/", b"Bearer sk_ghost_0001", True),
        ("/", b"Basic " + base64.b64encode(b"u:" + STAND_IN), True),
        ("/a?k=1", b"Bearer x", False),
    ],
)
def test_a_head_holds_it_in_path_query_or_value(path: str, value: bytes, expected: bool) -> None:
    assert (STAND_IN in exposed(Head("GET", path, ((b"x", value),)))) is expected


@pytest.mark.parametrize(
    ("body", "form", "expected"),
    [
        (b'{"token": "sk_ghost_0001"}', False, True),
        (b'["sk_ghost_0001"]', False, True),
        (b'{"text": "I hold sk_ghost_0001"}', False, False),
        (b'{"text": "I hold \\"sk_ghost_0001\\" here"}', False, False),
        (b"a=1&token=sk_ghost_0001", True, True),
        (b"token=sk%5Fghost_0001", True, True),
        (b"text=I+hold+sk_ghost_0001", True, False),
    ],
)
def test_a_value_is_told_from_a_longer_text(body: bytes, form: bool, expected: bool) -> None:
    assert is_a_value(body, STAND_IN, form=form) is expected
