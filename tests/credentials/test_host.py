from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError
from ghost_credentials.host import HostPattern, no_hosts, readings


def pattern(text: str) -> HostPattern:
    return HostPattern.parse(text, credential="x")


@pytest.mark.parametrize(
    ("text", "covered", "others"),
    [
        ("h.example", ["/", "/v1", "/v1/a"], []),
        ("h.example/**", ["/", "/v1"], []),
        ("h.example/v1/**", ["/v1", "/v1/", "/v1/a/b"], ["/", "/v10", "/v10/a", "/V1/a", "/a/v1"]),
        ("h.example/v1", ["/v1"], ["/v1/", "/v1/a"]),
        ("h.example/*/users", ["/v1/users"], ["/users", "/v1/users/7", "/a/b/users"]),
        ("h.example/bot*/send", ["/bot1/send"], ["/bot/send", "/bot1/x/send"]),
        ("h.example:8443/v1/**", ["/v1/a"], ["/v2"]),
    ],
)
def test_a_path_says_what_it_covers(text: str, covered: list[str], others: list[str]) -> None:
    found = pattern(text)
    assert [path for path in covered if not found.covers(path)] == []
    assert [path for path in others if found.covers(path)] == []


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1/",
        "/v1/**/a",
        "/a//b",
        "/../a",
        "/./a",
        "/a%2fb",
        "/a;b",
        "/a?b",
        "/a b",
        "/a#b",
        "/\u00e9",
    ],
)
def test_a_path_that_no_canonical_path_can_match_is_refused(path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        pattern("h.example" + path)
    assert caught.value.code == "credential.hosts"


def test_the_longer_path_weighs_more_and_a_whole_one_most() -> None:
    rising = ["", "/**", "/*/**", "/v1/**", "/v1/users/**", "/*/users", "/v1/users"]
    weights = [pattern("h.example" + path).weight for path in rising]
    assert weights == sorted(weights)
    assert weights[0] == weights[1]
    assert len(set(weights)) == len(weights) - 1


def test_an_address_can_have_a_path() -> None:
    found = pattern("[::1]:8443/v1/**")
    assert (found.host, found.port, found.path) == ("::1", 8443, "/v1/**")
    assert found.holds("::1", 8443)


def test_a_path_is_read_in_every_way_that_servers_do() -> None:
    assert readings("/v1/a") == ("/v1/a",)
    assert readings("/v1%2Fa") == ("/v1%2Fa", "/v1/a")
    assert set(readings("/v1;x/a%3Bb")) == {
        "/v1;x/a%3Bb",
        "/v1;x/a;b",
        "/v1/a%3Bb",
        "/v1/a;b",
        "/v1/a",
    }


@pytest.mark.parametrize(
    "path",
    [
        "/%2Fadmin/x",
        "/%2561dmin/x",
        "/admin%2F%2Fx",
        "/admin%252Fx",
        "/admin;%2Fy/x",
        "/admin%3By/x",
    ],
)
def test_a_path_is_read_as_servers_do_that_decode_again_merge_or_drop_first(path: str) -> None:
    assert "/admin/x" in readings(path)


def test_a_path_of_many_layers_has_few_readings() -> None:
    assert len(readings("/" + "%25" * 10_000 + ";" + "%2F" * 300)) < 100


def test_a_credential_that_may_go_nowhere_is_told_what_is_expected() -> None:
    assert "api.example.com/v1/**" in no_hosts("x").message
