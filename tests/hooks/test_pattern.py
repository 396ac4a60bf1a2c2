"""Patterns of methods, hosts, paths and names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import UsageError
from ghost_hooks.pattern import HostPattern, Methods, PathPattern, is_method, name_glob


def test_head_counts_as_get() -> None:
    assert Methods.parse("GET").match("HEAD")
    assert Methods.parse("HEAD").match("GET")
    assert not Methods.parse("POST").match("HEAD")


def test_any_method_is_a_star_and_covers_all() -> None:
    every = Methods.parse("*")
    assert every.match("PATCH")
    assert every.covers(Methods.parse("GET,POST"))
    assert not Methods.parse("GET").covers(every)
    assert Methods.parse("get, post").covers(Methods.parse("POST"))


@pytest.mark.parametrize("text", ["", "GET;POST", "G T", "CONNECT", "TRACE", "GET,"])
def test_what_is_no_method_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Methods.parse(text)


def test_methods_are_upper_case_tokens() -> None:
    assert is_method("PROPFIND")
    assert not is_method("get")
    assert not is_method("GET ")


def test_a_star_host_is_one_label_in_allow_and_any_depth_in_deny() -> None:
    pattern = HostPattern.parse("*.example.com")
    assert pattern.allows("a.example.com")
    assert not pattern.allows("b.a.example.com")
    assert not pattern.allows("example.com")
    assert pattern.denies("b.a.example.com")
    assert not pattern.denies("example.com")
    assert not pattern.denies("badexample.com")


def test_hosts_do_not_match_by_prefix_or_suffix() -> None:
    pattern = HostPattern.parse("api.example.com")
    for host in ("api.example.com.evil.test", "evil-api.example.com", "xapi.example.com"):
        assert not pattern.allows(host)
        assert not pattern.denies(host)
    assert pattern.denies("api.example.com")


def test_a_bare_star_is_every_host() -> None:
    every = HostPattern.parse("*")
    assert every.denies("a.example")
    assert every.allows("a.example")
    assert every.covers(HostPattern.parse("*.example"))


@pytest.mark.parametrize("text", ["", "*.", "a.*.b", "*a.example", "exämple.com", "127.1"])
def test_malformed_host_patterns_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        HostPattern.parse(text)


@pytest.mark.parametrize(
    ("text", "path", "matches"),
    [
        ("/v1/*", "/v1/a", True),
        ("/v1/*", "/v1/a%2Fb", True),
        ("/v1/*", "/v1/a/b", False),
        ("/v1/*", "/v1/", False),
        ("/v1/*", "/v1", False),
        ("/v1/**", "/v1/a/b/c", True),
        ("/v1/**", "/v1", True),
        ("/v1/**", "/v1/", True),
        ("/v1/**", "/v10", False),
        ("/**", "/", True),
        ("/**", "/anything/at/all", True),
        ("/v1/{id}", "/v1/x", True),
        ("/v1/{id}/refund", "/v1/x/refund", True),
        ("/v1/{id}/refund", "/v1/x/y/refund", False),
        ("/v1/x*.json", "/v1/xa.json", True),
        ("/v1/x*.json", "/v1/xaxjson", False),
        ("/v1/%61", "/v1/a", True),
        ("/v1/é", "/v1/%C3%A9", True),
        ("/v1/a.b", "/v1/a.b", True),
        ("/v1/a.b", "/v1/axb", False),
        ("/v1", "/v1\n", False),
    ],
)
def test_wildcards_stay_in_their_segment(text: str, path: str, matches: bool) -> None:
    assert PathPattern.parse(text).match(path) is matches


@pytest.mark.parametrize("text", ["v1", "/a/**/b", "/a**", "/../x", "/a//b", "/a?b", "/a#b", "/~~"])
def test_patterns_that_no_path_can_match_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        PathPattern.parse(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/admin/**", "/admin;x=1/secret"),
        ("/admin", "/admin;x"),
        ("/admin", "/admin%3Bx"),
        ("/admin", "/admin/"),
        ("/admin/", "/admin"),
        ("/", "/"),
        ("/x:delete", "/x%3Adelete"),
        ("/a;v=1", "/a;v=1"),
        ("/café", "/caf%C3%A9"),
        ("/a/b", "/a%2Fb"),
        ("/admin/**", "/admin%2Fx"),
        ("/admin", "/admin%3Bx%2F"),
    ],
)
def test_a_refusal_matches_every_reading_of_a_path(text: str, path: str) -> None:
    assert PathPattern.parse(text).denies(path)


def test_a_refusal_leaves_other_paths_alone() -> None:
    assert not PathPattern.parse("/a/b").denies("/a%2Fbc")
    assert not PathPattern.parse("/admin").denies("/a")


@pytest.mark.parametrize("path", ["/%2Fadmin%2Fx", "/admin%252Fx", "/%2561dmin/x"])
def test_a_refusal_reads_escapes_as_servers_do_that_decode_again(path: str) -> None:
    assert PathPattern.parse("/admin/**").denies(path)


def test_an_encoded_slash_is_part_of_its_segment_where_a_path_is_allowed() -> None:
    assert PathPattern.parse("/v1/*").match("/v1/a%2Fb")
    assert not PathPattern.parse("/a/b").match("/a%2Fb")


def test_parameters_of_a_segment_match_only_where_they_are_spelled() -> None:
    assert not PathPattern.parse("/v1/*").match("/v1/a;x=1")
    assert not PathPattern.parse("/**").match("/v1/a;x=1")
    assert PathPattern.parse("/v1/*;x=1").match("/v1/a;x=1")


def test_a_literal_outweighs_a_wildcard_and_a_wildcard_the_rest() -> None:
    order = ["/v1/a/b", "/v1/a/*", "/v1/*/*", "/v1/a/**", "/v1/**", "/**"]
    weights = [PathPattern.parse(text).weight for text in order]
    assert weights == sorted(weights, reverse=True)


_SEGMENT = st.sampled_from(["a", "b", "ab", "*", "{id}", "a*", "*b"])


def _pattern(rest: bool, segments: list[str]) -> str:
    return "/" + "/".join(segments) + ("/**" if rest else "")


_PATTERNS = st.builds(_pattern, st.booleans(), st.lists(_SEGMENT, min_size=1, max_size=3))


@given(
    _PATTERNS,
    _PATTERNS,
    st.sampled_from(["a", "b", "ab", "aab", "abb"]),
    st.sampled_from(["", "/", "/a/b"]),
)
def test_a_pattern_that_covers_another_matches_all_its_paths(
    wide: str, narrow: str, fill: str, rest: str
) -> None:
    outer, inner = PathPattern.parse(wide), PathPattern.parse(narrow)
    path = re.sub(r"\*|\{id\}", fill, narrow.removesuffix("/**"))
    path += rest if narrow.endswith("/**") else ""
    assert inner.match(path)
    if outer.covers(inner):
        assert outer.match(path)


def test_a_rest_covers_no_rest_that_starts_earlier() -> None:
    assert not PathPattern.parse("/a/*/**").covers(PathPattern.parse("/a/**"))
    assert PathPattern.parse("/**").covers(PathPattern.parse("/a/**"))


def test_a_name_glob_has_stars_only() -> None:
    assert name_glob("Describe*").match("DescribeInstances")
    assert not name_glob("Describe*").match("XDescribe")
    assert not name_glob("a.b").match("axb")


@pytest.mark.parametrize("path", ["/ADMIN", "/Admin/x", "/aDmin%2Fx", "/ADMIN;v=1", "/admin/"])
def test_a_refusal_is_about_both_cases_and_an_allowance_about_one(path: str) -> None:
    assert PathPattern.parse("/admin/**").denies(path)
    assert not PathPattern.parse("/admin").match(path)


def test_patterns_are_the_same_but_for_case_and_a_last_slash() -> None:
    one = PathPattern.parse("/v1/Users/*")
    assert one.same_but(PathPattern.parse("/v1/users/*/"))
    assert not one.same_but(PathPattern.parse("/v1/users/**"))
