from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.concluded import FRAGMENTS, judge
from ghost_memory.values import Memory


def memory(content: str, **more: object) -> Memory:
    fields: dict[str, object] = {
        "id": "a" * 32,
        "project_id": "app",
        "category": "fact",
        "content": content,
        "importance": 0.5,
        "tags": (),
        "pinned": False,
        "source": "mcp",
        "created_at": "",
        "updated_at": "",
        "seq": 1,
        **more,
    }
    return Memory(**fields)  # type: ignore[arg-type]


def because(content: str, **more: object) -> str:
    found = judge([memory(content, **more)], ())
    return found[0].because if found else ""


@pytest.mark.parametrize(
    "content",
    [
        "RESOLVED: the cache was stale",
        "**Closed:** superseded by the new parser",
        "[done] migration of the users table",
        "closed-by: PR 12, the importer reads both formats",
        "Shipped in 1.4: dark mode",
    ],
)
def test_a_text_that_opens_by_saying_so_is_confirmed(content: str) -> None:
    assert because(content) == "said"


@pytest.mark.parametrize(
    "content",
    [
        "Changelog: 1.2 adds the importer",
        "Investigation note: the leak was in the pool",
        "Postmortem of the outage on Monday",
        "PR locator: 831 holds the parser",
    ],
)
def test_a_record_of_finished_work_is_confirmed(content: str) -> None:
    assert because(content) == "record"


@pytest.mark.parametrize(
    "content",
    [
        "the login bug was fixed in 1.2",
        "the feature flag was removed last week",
        "root cause of the flake: two tests share a port",
    ],
)
def test_a_mere_word_is_a_candidate_and_no_more(content: str) -> None:
    (found,) = judge([memory(content)], ())
    assert found.because == "unsure"
    assert not found.confirmed


@pytest.mark.parametrize(
    "content",
    [
        "RESOLVED: never restart the queue by hand",
        "Postmortem: always drain before a deploy",
        "The old API is deprecated. Use v2.",
        "merged branches must be deleted",
    ],
)
def test_a_rule_is_never_confirmed(content: str) -> None:
    assert because(content) == "rule"


@pytest.mark.parametrize(
    "content",
    [
        "RESOLVED: partially; the importer is still pending",
        "Investigation note: root cause not yet found",
        "the fix landed in main but is not merged to release",
        "closed: reopened on Monday",
        "Changelog: TODO",
    ],
)
def test_what_is_still_open_is_never_confirmed(content: str) -> None:
    assert because(content) == "open"


@pytest.mark.parametrize("content", ["the port is 8402", "disclosed prices", ""])
def test_what_says_nothing_of_an_end_is_no_candidate(content: str) -> None:
    assert because(content) in {"", "unsure"}
    assert because("the port is 8402") == ""


@pytest.mark.parametrize(
    "more",
    [
        {"pinned": True},
        {"resolved_at": "2026-01-01T00:00:00.000000Z"},
        {"category": "convention"},
        {"category": "preference"},
    ],
)
def test_what_is_pinned_marked_or_a_rule_by_category_is_left_alone(more: dict[str, object]) -> None:
    one = memory("RESOLVED: x", **more)
    assert judge([one], {one.id}) == []


def test_what_a_newer_memory_replaces_is_confirmed_whatever_it_says() -> None:
    (found,) = judge([memory("the port is 8402")], {"a" * 32})
    assert (found.because, found.confirmed) == ("replaced", True)


@given(st.text(), st.sampled_from(FRAGMENTS), st.text())
def test_any_text_is_judged_and_none_with_an_open_mark_is_confirmed(
    before: str, fragment: str, after: str
) -> None:
    for each in judge([memory(f"{before} {fragment} {after} todo")], ()):
        assert not each.confirmed
