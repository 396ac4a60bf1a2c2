"""CONNECT target, SNI and Host: one of them alone decides nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_addons import authority
from ghost_core.errors import DeniedError
from support.agent import raw_connect
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

PLACE = ("api.test", 443)


def test_equal_names_in_any_spelling_agree() -> None:
    names = ["API.Test", "api.test:443", "api.test."]
    authority.agree(PLACE, scheme="https", sni="Api.Test", names=names)


@pytest.mark.parametrize(
    ("sni", "names", "code"),
    [
        ("api.test", ["evil.test"], "target.mismatch"),
        ("api.test", ["api.test:8443"], "target.mismatch"),
        ("evil.test", ["api.test"], "target.mismatch"),
        (None, ["api.test"], "target.mismatch"),
        ("api.test", [], "target.host"),
        ("api.test", ["api.test", "evil.test"], "target.mismatch"),
        ("api.test", ["user@api.test"], "target.host"),
    ],
)
def test_names_that_disagree_are_refused(sni: str | None, names: list[str], code: str) -> None:
    with pytest.raises(DeniedError) as caught:
        authority.agree(PLACE, scheme="https", sni=sni, names=names)
    assert caught.value.code == code


def test_an_address_needs_no_server_name() -> None:
    authority.agree(("192.0.2.1", 443), scheme="https", sni=None, names=["192.0.2.1"])


def test_plain_http_has_no_server_name() -> None:
    authority.agree(("api.test", 80), scheme="http", sni=None, names=["api.test"])


def test_two_host_lines_are_refused() -> None:
    with pytest.raises(DeniedError) as caught:
        authority.names_in("", ["api.test", "api.test"])
    assert caught.value.code == "target.host"


@given(st.text(max_size=40))
def test_any_text_is_a_place_or_a_refusal(text: str) -> None:
    try:
        host, port = authority.place_of(text, scheme="https")
    except DeniedError as error:
        assert error.code == "target.host"
        return
    assert host == host.lower()
    assert 0 <= port <= 99_999


@pytest.mark.parametrize(
    ("connect", "sni", "host", "status"),
    [
        ("localhost", "localhost", "evil.test", 421),
        ("localhost", "evil.test", "localhost", 421),
        ("localhost", None, "localhost", 421),
        ("LOCALHOST", "localhost", "Localhost", 200),
    ],
)
def test_the_wire_shows_one_name_or_nothing(  # noqa: PLR0917
    connect: str,
    sni: str | None,
    host: str,
    status: int,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
) -> None:
    port = up.authority.rpartition(":")[2]
    with raw_connect(proxy.port, f"{connect}:{port}", session.auth) as tunnel:
        tunnel.tls(sni=sni)
        answer = tunnel.request("POST", "/echo", {"Host": f"{host}:{port}"}, b"{}")
    assert answer.status == status
    assert len(up.requests) == (1 if status == 200 else 0)
    if status == 421:
        assert proxy.last(session).fields["error"] == "target.mismatch"


def test_plain_bytes_in_a_tls_tunnel_are_refused(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 421
    assert up.connections == 0
