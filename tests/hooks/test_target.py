"""Where a request goes, in one form."""

from __future__ import annotations

import pytest

from ghost_core.errors import DeniedError
from ghost_hooks.target import Target, split_authority


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("HTTPS://API.example.com:443/v1?a=1", "https://api.example.com/v1?a=1"),
        ("https://api.example.com.", "https://api.example.com/"),
        ("http://api.example.com:80/", "http://api.example.com/"),
        ("https://api.example.com:8443", "https://api.example.com:8443/"),
        ("https://[::1]:8443/x", "https://[::1]:8443/x"),
        ("https://api.example.com?x=1", "https://api.example.com/?x=1"),
    ],
)
def test_equal_targets_have_one_url(url: str, same: str) -> None:
    assert Target.parse(url).url == same
    assert Target.parse(same) == Target.parse(url)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://user:pw@api.example.com/", "target.host"),
        ("https://api.example.com@evil.test/", "target.host"),
        ("https://evil.test#api.example.com", "target.scheme"),
        ("https://evil.test/#@api.example.com", "target.path"),
        ("https://evil.test\\@api.example.com", "target.scheme"),
        ("https://api.example.com:0/", "target.host"),
        ("https://api.example.com:65536/", "target.host"),
        ("https://api.example.com:/", "target.host"),
        ("https://api.example.com:4x/", "target.host"),
        ("https:///x", "target.host"),
        ("ftp://api.example.com/", "target.scheme"),
        ("api.example.com/", "target.scheme"),
        ("https://api.example.com/a/../b", "target.path"),
        ("https://api.example.com/a?b c", "target.query"),
    ],
)
def test_a_url_that_names_two_places_is_refused(url: str, code: str) -> None:
    with pytest.raises(DeniedError) as caught:
        Target.parse(url)
    assert caught.value.code in {code, "target.path"}


def test_a_target_built_by_hand_is_canonical_too() -> None:
    target = Target("https", "API.example.com.", 443, "/%61", "x")
    assert (target.host, target.path) == ("api.example.com", "/a")
    assert target.path_and_query == "/a?x"
    assert target.authority == "api.example.com"


def test_a_request_line_is_split_at_its_first_question_mark() -> None:
    target = Target.at("https", "a.example", 443, "/x?y?z")
    assert (target.path, target.query) == ("/x", "y?z")


def test_an_authority_splits_into_name_and_port() -> None:
    assert split_authority("a.example:8443", default=443) == ("a.example", 8443)
    assert split_authority("[::1]", default=443) == ("[::1]", 443)
    with pytest.raises(DeniedError):
        split_authority("::1", default=443)
