from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from ghost_agents import environment
from ghost_agents.environment import Environment, JavaTrust, block
from ghost_core.errors import ConfigError

URL = "http://gh_0123:ghtoken_abc@localhost:9999"
BUNDLE = Path("/home/ada/.ghost/ca/bundle.pem")
AUTHORITY = Path("/home/ada/.ghost/ca/ghost-ca-cert.pem")


@dataclass(frozen=True, slots=True)
class Credential:
    secret: str | None
    placeholder: str | None = None


def made(**more: object):
    return block(
        proxy_url=URL,
        session_id="gh_0123",
        bundle=BUNDLE,
        authority=AUTHORITY,
        wgetrc=Path("/home/ada/.ghost/ca/wgetrc"),
        **more,
    )


def test_every_client_of_the_matrix_finds_its_own_name() -> None:
    assert dict(made().values) == {
        "GHOST_SESSION_ID": "gh_0123",
        "HTTPS_PROXY": URL,
        "HTTP_PROXY": URL,
        "ALL_PROXY": URL,
        "https_proxy": URL,
        "http_proxy": URL,
        "all_proxy": URL,
        "NO_PROXY": "",
        "no_proxy": "",
        "SSL_CERT_FILE": str(BUNDLE),
        "REQUESTS_CA_BUNDLE": str(BUNDLE),
        "CURL_CA_BUNDLE": str(BUNDLE),
        "AWS_CA_BUNDLE": str(BUNDLE),
        "GIT_SSL_CAINFO": str(BUNDLE),
        "PIP_CERT": str(BUNDLE),
        "npm_config_cafile": str(BUNDLE),
        "HTTPLIB2_CA_CERTS": str(BUNDLE),
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(BUNDLE),
        "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE": str(BUNDLE),
        "NIX_SSL_CERT_FILE": str(BUNDLE),
        "NODE_EXTRA_CA_CERTS": str(AUTHORITY),
        "NODE_USE_ENV_PROXY": "1",
        "WGETRC": "/home/ada/.ghost/ca/wgetrc",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    assert made().unset == ("SSL_CERT_DIR", "SSLKEYLOGFILE")


def test_no_name_is_set_twice_or_set_and_removed() -> None:
    names = [name for name, _ in made(java=JavaTrust(Path("/t.p12"), "x")).values]
    assert len(names) == len(set(names))
    assert not set(names) & set(made().unset)


def test_an_inherited_exception_list_does_not_go_around_the_proxy() -> None:
    inherited = {
        "NO_PROXY": "*",
        "no_proxy": "*",
        "SSL_CERT_DIR": "/x",
        "SSLKEYLOGFILE": "/k",
        "A": "1",
    }
    child = made().over(inherited)
    assert (child["NO_PROXY"], child["no_proxy"], child["A"]) == ("", "", "1")
    assert "SSL_CERT_DIR" not in child
    assert "SSLKEYLOGFILE" not in child


def test_an_exception_list_that_the_user_gives_is_kept() -> None:
    child = dict(made(no_proxy="intranet.example").values)
    assert child["NO_PROXY"] == child["no_proxy"] == "intranet.example"


def test_java_is_told_only_on_request() -> None:
    assert "JAVA_TOOL_OPTIONS" not in dict(made().values)
    options = dict(made(java=JavaTrust(Path("/my store/t.p12"), "changeit")).values)[
        "JAVA_TOOL_OPTIONS"
    ]
    assert options == (
        "-Dhttps.proxyHost=localhost -Dhttps.proxyPort=9999"
        ' "-Djavax.net.ssl.trustStore=/my store/t.p12"'
        " -Djavax.net.ssl.trustStorePassword=changeit -Djdk.http.auth.tunneling.disabledSchemes="
    )
    assert "ghtoken_" not in options


def test_a_path_that_java_cannot_take_is_refused() -> None:
    with pytest.raises(ConfigError):
        made(java=JavaTrust(Path("""/a "b' c"""), "x"))


def test_the_agent_holds_a_stand_in_where_our_environment_holds_the_secret() -> None:
    held = {"STRIPE_API_KEY": "sk_ghost_0000"}
    assert made(placeholders=held).over()["STRIPE_API_KEY"] == "sk_ghost_0000"


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "no_proxy", "SSLKEYLOGFILE", "GHOST_SESSION_ID"])
def test_a_credential_cannot_take_a_name_that_the_block_needs(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(placeholders={name: "x"})
    assert caught.value.code == "environment.clash"


@pytest.mark.parametrize("name", ["", "A B", "A=B", "1A", "A;rm", "A\n"])
def test_a_name_that_is_no_variable_is_refused(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(placeholders={name: "x"})
    assert caught.value.code == "environment.name"


def test_a_shown_block_does_not_show_the_token() -> None:
    assert "ghtoken_" not in repr(made())
    assert "ghtoken_" not in str(Environment((("A", "ghtoken_x"),)))


def test_wget_reads_the_bundle_from_its_own_file() -> None:
    assert environment.wgetrc_text(BUNDLE) == f"ca_certificate = {BUNDLE}\n"
    with pytest.raises(ConfigError):
        environment.wgetrc_text(Path("/a\nuse_proxy = off"))
