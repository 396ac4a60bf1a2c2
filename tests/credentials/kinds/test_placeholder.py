from __future__ import annotations

import base64

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.placeholder import build

STAND_IN = b"ghost_x_placeholder"
KIND = build(CredentialSettings(kind="placeholder"), name="x")


def basic(pair: bytes) -> bytes:
    return b"Basic " + base64.b64encode(pair)


def test_the_stand_in_is_replaced_in_a_header_value() -> None:
    head = Head("GET", "/", ((b"Authorization", b"token " + STAND_IN), (b"accept", b"*/*")))
    assert KIND.inject(head, b"hunter2").headers == (
        (b"authorization", b"token hunter2"),
        (b"accept", b"*/*"),
    )


def test_the_stand_in_is_replaced_inside_basic() -> None:
    head = Head("GET", "/", ((b"authorization", basic(b"git:" + STAND_IN)),))
    assert KIND.inject(head, b"hunter2").get("authorization") == basic(b"git:hunter2")


def test_a_header_that_is_replaced_stands_once() -> None:
    lines = (
        (b"authorization", b"other"),
        (b"Authorization", STAND_IN),
        (b"authorization", STAND_IN),
    )
    assert KIND.inject(Head("GET", "/", lines), b"hunter2").headers == (
        (b"authorization", b"hunter2"),
    )


def test_nothing_is_injected_where_the_stand_in_does_not_occur() -> None:
    head = Head("GET", "/info/refs?service=git-upload-pack", ((b"authorization", basic(b"a:b")),))
    assert KIND.inject(head, b"hunter2") == head


@pytest.mark.parametrize("name", [b"host", b":authority", b"content-length", b"x-ghost-token"])
def test_names_and_framing_are_never_touched(name: bytes) -> None:
    head = Head("GET", "/", ((name, STAND_IN),))
    assert KIND.inject(head, b"hunter2") == head


def test_a_named_header_is_the_only_one() -> None:
    kind = build(CredentialSettings(kind="placeholder", header="X-Key"), name="x")
    head = Head("GET", "/", ((b"x-key", STAND_IN), (b"x-other", STAND_IN)))
    assert kind.inject(head, b"hunter2").headers == ((b"x-key", b"hunter2"), (b"x-other", STAND_IN))


def test_only_the_named_query_parameter_is_replaced() -> None:
    kind = build(CredentialSettings(kind="placeholder", query="key"), name="x")
    text = STAND_IN.decode()
    path = f"/a?other={text}&key=%67{text[1:]}&key=own&q"
    assert kind.inject(Head("GET", path), b"a&b").path == f"/a?other={text}&key=a%26b&key=own&q"
    assert kind.inject(Head("GET", f"/{text}"), b"a&b").path == f"/{text}"


def test_without_a_named_parameter_the_query_is_left_alone() -> None:
    head = Head("GET", "/a?key=ghost_x_placeholder")
    assert KIND.inject(head, b"hunter2") == head


def test_a_configured_stand_in_is_used() -> None:
    kind = build(CredentialSettings(kind="placeholder", placeholder="sk_ghost_0001"), name="x")
    assert kind.placeholder == b"sk_ghost_0001"
    assert kind.exposures(b"hunter2") == (b"hunter2",)


def test_an_unfit_header_is_refused() -> None:
    with pytest.raises(ConfigError):
        build(CredentialSettings(kind="placeholder", header="host"), name="x")
