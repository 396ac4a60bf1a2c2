"""The audit page: self-contained, inert, complete."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost_templates.render import page
from support import views
from support.page import Page, is_inert


def _hostile(text: str) -> str:
    """Render a view in which every field that others fill holds the text."""
    part = views.part(text, [(text, text)], text)
    action = views.action(
        2, tool=text, action=text, host=text, method=text, credential=text, peer=text, flags=[text],
        error=text, request=part, forwarded=part, response=part,
        verdicts=[views.verdict(text, text, reason=text)],
    )  # fmt: skip
    refused = views.denied(4, tool=text, action=text, host=text)
    refused["denial"] |= {"message": text, "rule": text, "hint": text}
    more = {"intent": text, "scopes": [text], "reason": text, "recorder": text, "seal": text}
    return page(views.view(action, refused, **more))


HOSTILE = (
    "</script><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "<!-- --><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x=\'',
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "&lt;script&gt;",
    "]]><svg onload=alert(1)>",
    "\x00\x01\x7f\x85\u2028",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    is_inert(_hostile(text))


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=40))
def test_any_text_stays_text(text: str) -> None:
    is_inert(_hostile(text))


@pytest.mark.parametrize(
    "character", ["\x1b", "\x07", "\x00", "\x85", "\u202e", "\u2066", "\u200b"]
)
def test_a_character_that_acts_never_reaches_the_page(character: str) -> None:
    assert character not in _hostile(f"a{character}b")


def test_the_policy_allows_nothing_but_the_style_of_the_page() -> None:
    text = page(views.view(views.action(2)))
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode()
    policies = [attrs["content"] for attrs in Page(text).named("meta") if "http-equiv" in attrs]
    expected = (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert policies == [expected]


def test_the_page_names_no_address_of_the_net() -> None:
    text = page(views.view(views.action(2), scopes=[]))
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_the_page_says_that_it_is_a_view_and_how_to_verify() -> None:
    text = Page(page(views.view())).text
    assert "This page is a view, not evidence." in text
    assert f"ghost verify {views.SID}.ghost" in text
    assert views.LOG_KEY in text
    assert "Key fingerprint SHA256:" in text


@pytest.mark.parametrize(
    ("result", "word"), [("valid", "Verified"), ("invalid", "Broken"), ("incomplete", "Incomplete")]
)
def test_the_headline_says_the_verdict(result: str, word: str) -> None:
    verdict = {"result": result, "exit_code": 0, "axes": views.axes()}
    assert f"<strong>{word}</strong>" in page(views.view(verdict=verdict))


def test_a_typed_in_verified_does_not_change_the_headline() -> None:
    verdict = {"result": "invalid", "exit_code": 7, "axes": views.axes(chain="invalid")}
    text = page(views.view(verdict=verdict, verified=True))
    assert "<strong>Broken</strong>" in text
    assert "<strong>Verified</strong>" not in text


def test_failed_axes_come_first() -> None:
    verdict = {"result": "invalid", "exit_code": 7, "axes": views.axes(columns="invalid")}
    text = page(views.view(verdict=verdict))
    assert text.index("differ from the signed entries") < text.index("Every entry carries")


def test_statuses_are_told_by_words_and_signs() -> None:
    actions = [
        views.action(2),
        views.denied(4),
        views.action(5, status="failed", error="upstream.timeout"),
        views.action(7, status="unknown", error="crash"),
    ]
    text = page(views.view(*actions))
    for word, sign in (("executed", "✓"), ("denied", "✕"), ("failed", "!"), ("unknown", "?")):
        assert f'<span class="word">{word}</span>' in text
        assert f'aria-hidden="true">{sign}</span>' in text


def test_a_denial_names_rule_and_hint() -> None:
    text = Page(page(views.view(views.denied(2)))).text
    assert "Refused by scope: no scope names metadata.internal. Rule: none." in text
    assert "ghost spawn --scope 'GET https://metadata.internal/**'" in text


def test_headers_that_ghost_changed_are_marked() -> None:
    text = page(views.view(views.action(2)))
    assert '<span class="hidden">removed </span><span class="key"><bdi>connection</bdi>' in text
    assert '<span class="hidden">added </span><span class="key"><bdi>idempotency-key</bdi>' in text
    assert '<span class="hidden">changed </span><span class="key"><bdi>authorization</bdi>' in text


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("absent", "Not stored: only the commitment was kept."),
        ("erased", "Erased on request"),
        ("mismatch", "does not fit the signed commitment"),
    ],
)
def test_a_missing_payload_is_explained(state: str, sentence: str) -> None:
    action = views.action(2, request=views.missing(state), forwarded=None, response=None)
    assert sentence in page(views.view(action))


def test_a_truncated_payload_says_how_much_is_there() -> None:
    reply = views.part(
        "HTTP/1.1 200 OK", [], "x", state="truncated", size=2_400_000, stored=1_000_000
    )
    text = page(views.view(views.action(2, response=reply)))
    assert "Of 2.4 MB the first 1.0 MB were stored" in text


def test_a_column_that_differs_is_shouted() -> None:
    column = {
        "table": "actions",
        "column": "http_status",
        "id": "act_1",
        "stored": "200",
        "signed": "500",
    }
    text = Page(page(views.view(columns=[column]))).text
    assert "Column actions.http_status of act_1 says 200, the signed entry says 500." in text


def test_all_sessions_share_a_page_with_an_index() -> None:
    first, second = views.view(views.action(2)), views.view(views.action(2), intent="fetch_metrics")
    text = page({"schema": "ghost/replay/v1", "sessions": [first, second], "verified": True})
    parsed = is_inert(text)
    ids = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    links = [attrs["href"] for attrs in parsed.named("a")]
    assert "2 sessions" in parsed.text
    assert len(ids) == len(set(ids))
    assert {f"#{name}" for name in ids} >= set(links) == {"#s0", "#s1"}


def test_an_empty_history_is_a_page_too() -> None:
    assert "There is nothing to show yet." in page({"sessions": [], "verified": False})


def test_another_session_is_shown_beside_this_one() -> None:
    comparison = {
        "session_id": "gh_" + "0" * 32,
        "facts": [{"name": "intent", "this": "a", "other": "b"}],
        "actions_this": ["x: executed 200", "y: denied 403"],
        "actions_other": ["x: executed 200"],
    }
    text = Page(page(views.view(comparison=comparison))).text
    assert "2 lines differ." in text
    assert "added y: denied 403" in text
