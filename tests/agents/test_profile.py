from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_agents.profile import ANTHROPIC, OPENAI, VENDORS, Profile, Vendor, parse
from ghost_core.errors import UsageError


@pytest.mark.parametrize(
    ("url", "vendor", "model"),
    [
        ("openai://gpt-4", OPENAI, "gpt-4"),
        ("openai://", OPENAI, None),
        ("anthropic://claude-opus-4-5", ANTHROPIC, "claude-opus-4-5"),
        ("claude-code://", ANTHROPIC, None),
        ("codex://", OPENAI, None),
        ("opencode://", None, None),
        ("goose://", None, None),
        ("langchain://chain-id", None, None),
    ],
)
def test_a_kind_tells_provider_and_model(
    url: str, vendor: Vendor | None, model: str | None
) -> None:
    profile = parse(url)
    assert (profile.vendor, profile.model, profile.url) == (vendor, model, url)
    assert profile.hosts == (vendor.hosts if vendor else ())


def test_a_known_provider_implies_its_model_scope() -> None:
    assert parse("openai://gpt-4").scopes == ("model:openai",)
    assert parse("claude-code://").scopes == ("model:anthropic",)
    assert parse("goose://").scopes == ()
    assert {vendor.scope for vendor in VENDORS.values()} == {"model:openai", "model:anthropic"}


def test_a_model_is_pinned_on_its_endpoints_only() -> None:
    profile = parse("openai://gpt-4")
    assert profile.pins("/v1/chat/completions")
    assert profile.pins("/v1/responses")
    assert not profile.pins("/v1/embeddings")
    assert parse("anthropic://m").pins("/v1/messages")


def test_without_a_model_nothing_is_pinned() -> None:
    assert not parse("openai://").pins("/v1/chat/completions")
    assert not parse("claude-code://").pins("/v1/messages")


def test_a_chain_is_named_for_the_record() -> None:
    assert parse("langchain://chain-id").name == "chain-id"


@pytest.mark.parametrize(
    "rest",
    [
        "http://localhost:8000",
        "http://127.0.0.1:1/a",
        "http://[::1]:8000",
        "https://agent.example/v1",
    ],
)
def test_a_custom_agent_has_a_way_back(rest: str) -> None:
    assert parse(f"custom://{rest}") == Profile(f"custom://{rest}", "custom", reverse_url=rest)


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "localhost:8000",
        "ftp://x",
        "http://",
        "http://agent.example",
        "https://u:p@x",
        "https://x?q=1",
        "https://x#f",
        "https://x:99999",
        "https://x:0",
        "https://x y",
        "http://127.0.0.1.evil.example",
        "file:///etc/passwd",
        "https://x\\@y",
        "http://localhost@evil.example",
    ],
)
def test_a_way_back_that_is_unsafe_or_unclear_is_refused(rest: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(f"custom://{rest}")
    assert caught.value.code == "agent.url"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "openai",
        "openai:gpt",
        "claude-code://x",
        "langchain://",
        "openai://a b",
        "openai://a\n",
        "openai://" + "m" * 3000,
    ],
)
def test_what_is_no_agent_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(url)
    assert caught.value.code == "agent.url"


def test_a_mistyped_kind_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        parse("opnai://gpt-4")
    assert caught.value.code == "agent.unknown"
    assert "openai://" in caught.value.hint


@given(st.text(max_size=80))
def test_any_text_is_a_profile_or_a_usage_error(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse(text).url == text
