from __future__ import annotations

import base64

import pytest

from ghost_core.errors import ConfigError, DeniedError
from ghost_core.secret import SecretBytes
from ghost_core.settings_models import Settings
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.binding import Credential, Credentials, HostPattern
from ghost_credentials.head import Head

SECRET = SecretBytes(b"hunter2-hunter2")


def section(**fields: object) -> CredentialSettings:
    return CredentialSettings.model_validate(
        {"secret": "env:KEY", "hosts": ["api.example.com"], **fields}
    )


def credentials(**sections: CredentialSettings) -> Credentials:
    return Credentials.from_settings(Settings.model_construct(credentials=sections))


def bound(*hosts: str) -> Credential:
    return Credential.from_settings("x", section(hosts=hosts))


@pytest.mark.parametrize(
    "host",
    [
        "api.example.com.evil.test",
        "evil-api.example.com",
        "example.com",
        "a.api.example.com",
        "api.example.com.",
        "API.example.com",
        "api.example.com\u200b",
        "\uff41pi.example.com",
        "u@api.example.com",
        "",
    ],
)
def test_only_the_exact_name_is_bound(host: str) -> None:
    assert bound("api.example.com").bound_to("https", "api.example.com", 443)
    assert not bound("api.example.com").bound_to("https", host, 443)


@pytest.mark.parametrize("scheme", ["http", "ws", "HTTPS", ""])
def test_no_secret_goes_over_clear_text(scheme: str) -> None:
    assert not bound("api.example.com:80").bound_to(scheme, "api.example.com", 80)


@pytest.mark.parametrize(("text", "port"), [("h.example", 443), ("h.example:8443", 8443)])
def test_the_port_is_part_of_the_binding(text: str, port: int) -> None:
    found = bound(text)
    assert [p for p in (443, 8443, 80) if found.bound_to("https", "h.example", p)] == [port]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("eu.example.com", True),
        ("example.com", False),
        (".example.com", False),
        ("a.eu.example.com", False),
        ("*.example.com", False),
        ("eu.example.com.evil.test", False),
        ("euexample.com", False),
    ],
)
def test_a_star_is_one_label(host: str, expected: bool) -> None:
    assert bound("*.example.com").bound_to("https", host, 443) is expected


@pytest.mark.parametrize("text", ["127.0.0.1:8443", "[::1]:8443", "localhost:8443", "a_b.example"])
def test_addresses_and_local_names_can_be_bound(text: str) -> None:
    found = HostPattern.parse(text, credential="x")
    assert found.holds(found.host, found.port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "API.example.com",
        "https://api.example.com",
        "api.example.com/",
        "u@api.example.com",
        "api.example.com.",
        "api..example.com",
        "-a.example.com",
        "*.com",
        "*",
        "*.*.example.com",
        "a*.example.com",
        "b\u00fccher.example",
        "127.1",
        "0x7f000001",
        "2130706433",
        "010.0.0.1",
        "[127.0.0.1]x",
        "[0:0::1]",
        "h.example:0",
        "h.example:65536",
        "h.example:x",
        "h.example\n",
        ".".join(["abcdefgh"] * 40),
    ],
)
def test_an_unfit_host_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="credential 'x'") as caught:
        HostPattern.parse(text, credential="x")
    assert caught.value.code == "credential.hosts"


def test_a_credential_without_hosts_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        bound()
    assert caught.value.code == "credential.hosts"


def test_a_kind_we_do_not_have_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="credential 'aws': kind 'sigv4' is not") as caught:
        Credential.from_settings("aws", section(kind="sigv4"))
    assert caught.value.code == "credential.kind"


def test_a_credential_without_a_secret_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        Credential.from_settings("x", section(secret=None))
    assert caught.value.code == "credential.reference"


@pytest.mark.parametrize("kind", ["bearer", "basic", "header", "query", "placeholder", "cookie"])
def test_every_kind_injects_the_secret_once(kind: str) -> None:
    found = Credential.from_settings(
        "x", section(kind=kind, header="x-api-key", query="key", username="u", cookie="sid")
    )
    sent = Head("GET", "/?key=own", ((b"X-Api-Key", found.stand_in), (b"Authorization", b"own")))
    head = found.inject(found.strip(sent).head, SECRET)
    text = repr((head.path, head.headers)).encode()
    forms = (SECRET.reveal(), base64.b64encode(b"u:" + SECRET.reveal()))
    assert sum(text.count(form) for form in forms) == 1
    assert (b"key=own" in text) is (kind != "query")
    assert b"'own'" not in text
    assert all(name == name.lower() for name, _ in head.headers)


KINDS = ("bearer", "basic", "header", "query", "placeholder", "path", "body", "cookie")
UNFIT = [
    b"a\r\nx: y", b"a\nb", b"a\x00", b"", b" a", b"a\xc2\x85b", b"a\x85b", b"a\xe2\x80\xa8b", b"a\xe2\x80\xa9b",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", UNFIT)
def test_an_unfit_secret_is_refused_at_injection(value: bytes, kind: str) -> None:
    places = {"header": "x-key", "query": "key", "cookie": "sid", "body": "token"}
    found = Credential.from_settings("x", section(kind=kind, **places))
    head = Head("POST", "/ghost_x_placeholder", ((b"content-type", b"application/json"),))
    with pytest.raises(ConfigError, match="credential 'x'") as caught:
        found.fill(found.inject(head, SecretBytes(value)), b"{}", SecretBytes(value))
    assert caught.value.code == "credential.malformed"


def test_a_body_is_filled_by_its_kind_and_by_no_other() -> None:
    head = Head("POST", "/", ((b"content-type", b"application/json"),))
    filling = Credential.from_settings("x", section(kind="body", body="token"))
    assert filling.fills_body
    assert filling.fill(head, b"{}", SECRET) == b'{"token":"hunter2-hunter2"}'
    assert filling.inject(head, SECRET) == head
    assert not bound("h.example").fills_body
    assert bound("h.example").fill(head, b"{}", SECRET) == b"{}"


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "a/b", "a" * 65, ".a"])
def test_an_unfit_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Credential.from_settings(name, section())
    assert caught.value.code == "credential.name"


def test_the_agent_holds_the_configured_stand_in_or_one_of_the_name() -> None:
    assert bound("h.example").stand_in == b"ghost_x_placeholder"
    configured = Credential.from_settings("x", section(placeholder="sk_ghost_0001"))
    assert configured.stand_in == configured.placeholder == b"sk_ghost_0001"


def test_strip_keeps_a_stand_in_only_for_the_kind_that_replaces_it() -> None:
    head = Head("GET", "/", ((b"authorization", b"ghost_x_placeholder"),))
    replacing = Credential.from_settings("x", section(kind="placeholder"))
    assert replacing.strip(head).removed == ()
    assert bound("h.example").strip(head).removed == ("authorization",)


def test_the_scrubber_learns_every_form_on_the_wire() -> None:
    found = Credential.from_settings("x", section(kind="basic", username="u"))
    assert found.exposures(SECRET) == (SecretBytes(b"u:hunter2-hunter2"), SECRET)


def test_the_tool_s_credential_is_chosen_by_name() -> None:
    found = credentials(a=section(), b=section()).for_target("b", "https", "api.example.com", 443)
    assert found is not None
    assert found.name == "b"


def test_the_tool_s_credential_is_refused_elsewhere() -> None:
    with pytest.raises(DeniedError, match="credential 'a'") as caught:
        credentials(a=section()).for_target("a", "https", "other.example.com", 443)
    assert caught.value.code == "credential.unbound"


def test_a_name_that_is_not_configured_is_refused() -> None:
    with pytest.raises(ConfigError, match="credential 'z'") as caught:
        credentials(a=section()).for_target("z", "https", "api.example.com", 443)
    assert caught.value.code == "credential.unknown"


def test_a_raw_scope_gets_the_one_credential_of_the_host() -> None:
    found = credentials(a=section(), b=section(hosts=["b.example"]))
    chosen = found.for_target(None, "https", "b.example", 443)
    assert chosen is not None
    assert chosen.name == "b"
    assert found.for_target(None, "https", "c.example", 443) is None
    assert found.for_target(None, "http", "b.example", 443) is None


def test_two_credentials_for_one_host_are_refused_naming_both() -> None:
    found = credentials(b=section(hosts=["*.example.com"]), a=section())
    with pytest.raises(DeniedError, match="'a' and 'b'") as caught:
        found.for_target(None, "https", "api.example.com", 443)
    assert caught.value.code == "credential.ambiguous"


def split() -> Credentials:
    return credentials(
        whole=section(),
        v1=section(hosts=["api.example.com/v1/**"]),
        me=section(hosts=["api.example.com/v1/me"]),
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "whole"),
        ("/v2/a", "whole"),
        ("/v1", "v1"),
        ("/v1/a", "v1"),
        ("/v1/me", "me"),
        ("/v1/me/x", "v1"),
    ],
)
def test_of_several_on_one_host_the_longest_path_wins(path: str, expected: str) -> None:
    chosen = split().for_target(None, "https", "api.example.com", 443, path)
    assert chosen is not None
    assert chosen.name == expected


@pytest.mark.parametrize("path", ["/v1%2Fa", "/v1;x/a", "/v1/me;x", "/v1/me%3Bx"])
def test_a_path_that_two_credentials_read_as_theirs_is_refused(path: str) -> None:
    with pytest.raises(DeniedError, match=r"'\w+' and '\w+'") as caught:
        split().for_target(None, "https", "api.example.com", 443, path)
    assert caught.value.code == "credential.ambiguous"


def test_a_path_that_may_be_nobodys_is_refused() -> None:
    found = credentials(v1=section(hosts=["api.example.com/v1/**"]))
    assert found.for_target(None, "https", "api.example.com", 443, "/v2") is None
    with pytest.raises(DeniedError, match="'v1' and no credential"):
        found.for_target(None, "https", "api.example.com", 443, "/v1%2Fa")


def test_equal_paths_are_refused_naming_both() -> None:
    found = credentials(
        a=section(hosts=["api.example.com/v1/**"]), b=section(hosts=["*.example.com/v1/**"])
    )
    with pytest.raises(DeniedError, match="'a' and 'b'") as caught:
        found.for_target(None, "https", "api.example.com", 443, "/v1/x")
    assert caught.value.code == "credential.ambiguous"


def test_the_tool_s_credential_is_bound_to_its_paths() -> None:
    found = credentials(v1=section(hosts=["api.example.com/v1/**"]))
    assert found.for_target("v1", "https", "api.example.com", 443, "/v1/a") is not None
    for path in ("/v2", "/", "/v1%2Fa"):
        with pytest.raises(DeniedError) as caught:
            found.for_target("v1", "https", "api.example.com", 443, path)
        assert caught.value.code == "credential.unbound"


def test_a_stand_in_at_a_place_of_its_host_that_is_not_its_own_is_found() -> None:
    found = credentials(v1=section(hosts=["api.example.com/v1/**"]))
    head = Head("GET", "/v1", ((b"authorization", b"Bearer ghost_v1_placeholder"),))
    filled = Head("GET", "/v1", ((b"authorization", b"Bearer x"),))
    place = ("https", "api.example.com", 443)
    assert found.stray(head, *place, "/v1", leaving=filled) is None
    assert found.stray(head, *place, "/v1", leaving=head) is not None
    assert found.stray(head, *place, "/v2", leaving=filled) is not None


def test_a_stand_in_on_its_way_elsewhere_is_found() -> None:
    found = credentials(a=section(), b=section(hosts=["b.example"]))
    head = Head("GET", "/", ((b"authorization", b"Bearer ghost_a_placeholder"),))
    stray = found.stray(head, "https", "b.example", 443)
    assert stray is not None
    assert stray.name == "a"
    assert found.stray(head, "https", "api.example.com", 443) is None


@pytest.mark.parametrize("kind", ["oauth2", "sigv4", "jwt", "http_signature", "mtls"])
def test_a_kind_of_a_later_version_is_named_as_one_with_those_of_this(kind: str) -> None:
    settings = CredentialSettings.model_validate({"kind": kind, "secret": "env:A"})
    with pytest.raises(ConfigError) as caught:
        Credential.from_settings("a", settings)
    assert caught.value.message == f"credential 'a': kind {kind!r} is not in this version"
    assert (caught.value.hint or "").startswith("expected one of bearer")
