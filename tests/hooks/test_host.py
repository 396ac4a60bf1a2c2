"""One spelling of a host, and no look-alikes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import DeniedError
from ghost_hooks.host import canonical_host, is_address


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("API.Example.COM", "api.example.com"),
        ("api.example.com.", "api.example.com"),
        ("localhost", "localhost"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("XN--MNCHEN-3YA.de", "xn--mnchen-3ya.de"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("::1", "::1"),
        ("[2001:DB8::1]", "2001:db8::1"),
    ],
)
def test_equal_hosts_have_one_spelling(text: str, host: str) -> None:
    assert canonical_host(text) == host


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a..b",
        "example.com..",
        "-a.example",
        "a" * 64 + ".example",
        "a." * 127 + "ab",
        "münchen.de",
        "api\u200b.example.com",
        "ａｐｉ.example.com",  # full-width letters
        "api。example.com",
        "\u212aexample.com",
        "xn--.example",
        "xn--abc-.example",
        "xn--99999999999.example",
        "xn---ca.example",
        "xn--MNCHEN-3YA-.de",
        "user@example.com",
        "example.com/x",
        "exa mple.com",
        "example.com\x00",
        "example.com%2e",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.01",
        "1.2.3.4.5",
        "256.0.0.1",
        "example.0x",
        "::ffff:127.0.0.1",
        "[::ffff:7f00:1]",
        "0:0:0:0:0:0:0:1",
        "fe80::1%eth0",
        "[::1",
        "::1]",
        "[]",
        "[example.com]",
        "2001:db8:0:0::1",
    ],
)
def test_look_alikes_and_odd_address_forms_are_refused(text: str) -> None:
    with pytest.raises(DeniedError) as caught:
        canonical_host(text)
    assert caught.value.code == "target.host"


@given(st.text(alphabet="aA1.-_x:[]0é\u200bn", max_size=20))
def test_a_canonical_host_is_its_own_canonical_form(text: str) -> None:
    try:
        host = canonical_host(text)
    except DeniedError:
        return
    assert canonical_host(host) == host
    assert host == host.lower()


def test_addresses_are_told_from_names() -> None:
    assert is_address("10.0.0.1")
    assert is_address("::1")
    assert not is_address("a1.example")
