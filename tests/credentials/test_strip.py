from __future__ import annotations

import base64

import pytest

from ghost_credentials.head import Head
from ghost_credentials.strip import CLIENT_CREDENTIAL_HEADERS, HOP_BY_HOP, inspect, strip, unnamed


def head(*lines: tuple[bytes, bytes]) -> Head:
    return Head("GET", "/", lines)


@pytest.mark.parametrize("name", [*CLIENT_CREDENTIAL_HEADERS, *HOP_BY_HOP])
def test_credentials_and_lines_of_the_hop_never_pass(name: bytes) -> None:
    for spelled in (name, name.title(), name.replace(b"-", b"_")):
        assert strip(head((spelled, b"x"), (b"accept", b"*/*"))).headers == ((b"accept", b"*/*"),)


@pytest.mark.parametrize("name", [b"Proxy-Anything", b"proxy_authenticate", b"Proxy-Connection"])
def test_no_proxy_line_passes(name: bytes) -> None:
    assert strip(head((name, b"x"))).headers == ()


def test_what_connection_names_goes_with_it() -> None:
    lines = ((b"Connection", b"close, X-Hop"), (b"x-hop", b"1"), (b"Proxy-Connection", b"x-two"))
    found = inspect(head(*lines, (b"X_Two", b"2"), (b"x-end", b"3")))
    assert found.head.headers == ((b"x-end", b"3"),)
    assert found.removed == ("connection", "x-hop", "proxy-connection", "x_two")


@pytest.mark.parametrize(
    "name", [b"Host", b"Content-Length", b"Transfer-Encoding", b"Content-Type"]
)
def test_connection_cannot_take_away_the_message_itself(name: bytes) -> None:
    assert strip(head((b"Connection", name), (name, b"1"))).get(name) == b"1"


def test_connection_does_not_take_away_what_is_injected_later() -> None:
    stripped = strip(head((b"Connection", b"Authorization"), (b"Authorization", b"mine")))
    assert stripped.with_header("authorization", b"ours").headers == ((b"authorization", b"ours"),)


@pytest.mark.parametrize(
    ("value", "passes"), [(b"trailers", True), (b"Trailers ", True), (b"gzip", False)]
)
def test_te_passes_only_as_trailers(value: bytes, passes: bool) -> None:
    lines = ((b"TE", value), (b"Connection", b"TE"))
    assert (strip(head(*lines)).get("te") is not None) is passes


def test_removed_names_are_reported_once_and_without_values() -> None:
    found = inspect(head((b"Cookie", b"hunter2"), (b"cookie", b"b"), (b"Authorization", b"c")))
    assert found.removed == ("cookie", "authorization")
    assert "hunter2" not in repr(found)


def test_a_websocket_keeps_its_handshake_and_nothing_else_of_the_hop() -> None:
    lines = ((b"Connection", b"keep-alive, Upgrade, X-Hop"), (b"Upgrade", b"h2c, WebSocket"))
    found = strip(head(*lines, (b"X-Hop", b"1"), (b"Sec-WebSocket-Key", b"k")), websocket=True)
    assert found.headers == (
        (b"Sec-WebSocket-Key", b"k"),
        (b"connection", b"upgrade"),
        (b"upgrade", b"websocket"),
    )


def test_another_upgrade_is_never_kept() -> None:
    lines = ((b"Connection", b"Upgrade, HTTP2-Settings"), (b"Upgrade", b"h2c"))
    assert strip(head(*lines, (b"HTTP2-Settings", b"x")), websocket=True).headers == ()


def test_without_the_word_no_upgrade_passes() -> None:
    lines = ((b"Connection", b"Upgrade"), (b"Upgrade", b"websocket"))
    assert strip(head(*lines)).headers == ()


def test_a_line_with_the_placeholder_stays_for_its_replacement() -> None:
    basic = b"Basic " + base64.b64encode(b"git:ghost_git_placeholder")
    lines = (
        (b"Authorization", basic),
        (b"Cookie", b"a=1"),
        (b"X-Api-Key", b"ghost_git_placeholder"),
    )
    found = strip(head(*lines), placeholder=b"ghost_git_placeholder")
    assert [name for name, _ in found.headers] == [b"Authorization", b"X-Api-Key"]


@pytest.mark.parametrize("name", [b"Proxy-Authorization", b"X-Ghost-Token", b"X-Api-Key"])
def test_the_placeholder_does_not_save_a_line_of_the_hop(name: bytes) -> None:
    lines = ((name, b"ghost_git_placeholder"), (b"Connection", b"x-api-key"))
    assert strip(head(*lines), placeholder=b"ghost_git_placeholder").headers == ()


def test_what_connection_names_is_taken_out_before_anybody_judges() -> None:
    kept = (
        (b"Connection", b"If_Match, x-api-key, Host, te"),
        (b"Host", b"a"),
        (b"X-Api-Key", b"k"),
    )
    assert unnamed(head(*kept, (b"If-Match", b"1"), (b"X-Other", b"2"))).headers == (
        *kept,
        (b"X-Other", b"2"),
    )
    plain = head((b"If-Match", b"1"))
    assert unnamed(plain) is plain
