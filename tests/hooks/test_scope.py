"""Scopes as text: grammar, known names, subsets."""

from __future__ import annotations

import pytest

from ghost_core.errors import UsageError
from ghost_hooks.scope import Scope, contains, parse_all, split

_KNOWN = {"stripe": ("create", "list_all"), "aws_ec2": ("DescribeInstances",), "free": ()}


def test_every_form_of_the_grammar_is_read() -> None:
    assert Scope.parse("stripe").action == "*"
    assert Scope.parse("aws_ec2:Describe*").action == "Describe*"
    scope = Scope.parse("aws_ec2:DescribeInstances@ec2.eu-west-1.amazonaws.com")
    assert scope.host is not None
    assert scope.host.text == "ec2.eu-west-1.amazonaws.com"
    raw = Scope.parse("GET,POST  https://API.example.com/v1/*").raw
    assert raw is not None
    assert (raw.scheme, raw.port, raw.host.text, raw.path.text) == (
        "https",
        443,
        "api.example.com",
        "/v1/*",
    )


def test_a_url_without_a_path_is_the_whole_host() -> None:
    raw = Scope.parse("GET https://api.example.com:8443").raw
    assert raw is not None
    assert (raw.port, raw.path.text) == (8443, "/**")


def test_http_is_meant_only_where_it_is_spelled() -> None:
    raw = Scope.parse("GET http://api.example.com/").raw
    assert raw is not None
    assert (raw.scheme, raw.port) == ("http", 80)


def test_a_model_scope_is_one_name() -> None:
    assert Scope.parse("model:openai").tool == "model:openai"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "scope.grammar"),
        ("a b", "scope.grammar"),
        ("tool:", "scope.grammar"),
        ("tool@host", "scope.grammar"),
        ("../tool", "scope.grammar"),
        ("https://api.example.com/", "scope.grammar"),
        ("GET https://", "scope.grammar"),
        ("GET ftp://api.example.com/", "scope.grammar"),
        ("GET https://*/x", "scope.host"),
        ("GET https://a.example:0/", "scope.host"),
        ("GET https://a.example:99999/", "scope.host"),
        ("GET https://u@a.example/", "scope.host"),
        ("GET https://127.1/", "scope.host"),
        ("tool:a@exa_mple..com", "scope.host"),
        ("GET https://a.example/a/../b", "scope.path"),
        ("GET https://a.example/a?b=1", "scope.path"),
        ("CONNECT https://a.example/", "scope.method"),
    ],
)
def test_a_scope_of_bad_grammar_is_refused(text: str, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        Scope.parse(text)
    assert caught.value.code == code


def test_commas_split_bare_names_only() -> None:
    assert split(["a,b:c", "d"]) == ["a", "b:c", "d"]
    assert split(["GET,POST https://a.example/"]) == ["GET,POST https://a.example/"]
    assert split(["a,b:c@h.example"]) == ["a,b:c@h.example"]


def test_doubled_scopes_are_one() -> None:
    assert len(parse_all(["stripe,stripe", "stripe"], _KNOWN)) == 1


def test_an_unknown_tool_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        parse_all(["strpe"], _KNOWN)
    assert caught.value.code == "scope.unknown"
    assert caught.value.hint == "nearest is stripe"
    with pytest.raises(UsageError) as caught:
        parse_all(["zzz"], list(_KNOWN))
    assert caught.value.hint == "the tools of ghost.toml: ghost config show"


def test_an_unknown_action_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        parse_all(["stripe:creat"], _KNOWN)
    assert caught.value.hint == "nearest is create"
    with pytest.raises(UsageError) as caught:
        parse_all(["stripe:zzzz"], _KNOWN)
    assert caught.value.hint == "see tools.stripe.actions: ghost config show"


def test_known_names_patterns_methods_and_urls_are_accepted() -> None:
    texts = ["stripe:create", "aws_ec2:Describe*", "free:GET", "GET https://a.example/"]
    assert [scope.text for scope in parse_all(texts, _KNOWN)] == texts
    assert parse_all(["stripe:anything"], ["stripe"])


@pytest.mark.parametrize(
    ("parent", "child", "inside"),
    [
        (["a"], ["a"], True),
        (["a"], ["a:x"], True),
        (["a"], ["a:x@h.example"], True),
        (["a:x"], ["a"], False),
        (["a:Desc*"], ["a:Describe*"], True),
        (["a:Describe*"], ["a:Desc*"], False),
        (["a:x@*.example"], ["a:x@h.example"], True),
        (["a:x@h.example"], ["a:x"], False),
        (["a"], ["b"], False),
        (["a", "b"], ["b", "a"], True),
        (["a"], [], True),
        ([], ["a"], False),
        (["GET,POST https://h.example/v1/**"], ["GET https://h.example/v1/{id}"], True),
        (["GET https://h.example/v1/**"], ["GET,POST https://h.example/v1/x"], False),
        (["GET https://h.example/v1/*"], ["GET https://h.example/v1/**"], False),
        (["GET https://*.example/"], ["GET https://h.example/"], True),
        (["GET https://h.example/"], ["GET https://*.example/"], False),
        (["GET https://h.example/"], ["GET http://h.example/"], False),
        (["GET https://h.example/"], ["GET https://h.example:8443/"], False),
        (["* https://h.example/"], ["a"], False),
        (["a"], ["GET https://h.example/"], False),
    ],
)
def test_a_child_holds_a_subset(parent: list[str], child: list[str], inside: bool) -> None:
    assert contains(parent, child) is inside
    assert contains([Scope.parse(text) for text in parent], child) is inside
