"""Limits: bytes are counted, characters are never split."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import UsageError
from ghost_memory import limits
from support.memory import SECRET

ANY = st.text(st.characters(), max_size=100)


@given(ANY, st.integers(0, 50))
def test_a_cut_is_the_longest_beginning_that_fits(text: str, limit: int) -> None:
    clean = limits.plain(text)
    kept, shortened = limits.cut(clean, limit)
    assert clean.startswith(kept)
    assert len(kept.encode()) <= limit
    assert shortened == (kept != clean)
    if shortened:
        assert len(clean[: len(kept) + 1].encode()) > limit


@given(ANY)
def test_a_plain_text_can_be_stored_anywhere(text: str) -> None:
    plain = limits.plain(text)
    assert "\0" not in plain
    assert plain.encode().decode() == plain
    assert limits.plain(plain) == plain


@given(st.lists(ANY, max_size=15))
def test_tags_are_few_short_and_different(tags: list[str]) -> None:
    kept = limits.tags_of(tags)
    assert len(kept) <= limits.TAGS
    assert len(set(kept)) == len(kept)
    assert all(0 < len(tag.encode()) <= limits.TAG_BYTES for tag in kept)


def test_the_first_ten_tags_stay_in_order() -> None:
    given_ = [" b ", "a", "", "b", *(f"t{number}" for number in range(20))]
    assert limits.tags_of(given_) == ["b", "a", *(f"t{number}" for number in range(8))]


def test_kept_tags_hold_no_secret_and_of_very_many_only_the_first_are_looked_at() -> None:
    kept = limits.kept_tags(["net", SECRET, *["net"] * 98, "late"])
    assert kept[0] == "net"
    assert SECRET not in " ".join(kept)
    assert "late" not in kept


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_nothing_is_not_a_text(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        limits.require_text("title", text, 300)
    assert caught.value.code == "memory.title"
    assert limits.require_text("title", f"{text}é{text}", 300) == ("é", False, 0)


@pytest.mark.parametrize(
    ("value", "kept"),
    [(0.3, 0.3), (-1.0, 0.0), (7.0, 1.0), (math.inf, 1.0), (-math.inf, 0.0), (math.nan, 0.0)],
)
def test_an_importance_lies_between_0_and_1(value: float, kept: float) -> None:
    assert limits.importance_of(value) == kept


@pytest.mark.parametrize(("value", "kept"), [(0, 30), (-5, 30), (1, 1), (100, 100), (10**30, 100)])
def test_a_list_has_a_limit(value: int, kept: int) -> None:
    assert limits.limit_of(value, 30) == kept


@pytest.mark.parametrize(("value", "kept"), [(-1, 0), (5, 5), (10**30, limits.MOST_ROWS)])
def test_a_page_begins_where_a_database_can_count(value: int, kept: int) -> None:
    assert limits.offset_of(value) == kept


def test_an_unknown_name_is_answered_with_all_that_are_known() -> None:
    with pytest.raises(UsageError) as caught:
        limits.require_one_of("category", "\ud800" + "x" * 99, limits.CATEGORIES)
    assert caught.value.code == "memory.category"
    assert all(name in caught.value.message for name in limits.CATEGORIES)
    assert "x" * 50 not in caught.value.message
