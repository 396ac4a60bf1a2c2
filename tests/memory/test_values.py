"""Values: lists as they are stored and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory import values


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_a_stored_list_is_read_back(texts: list[str]) -> None:
    assert values.listed(values.stored(texts)) == tuple(texts)


@pytest.mark.parametrize("text", ["", "nonsense", "{}", '"abc"', "7", "null", "[" * 10])
def test_what_is_no_list_has_nothing_in_it(text: str) -> None:
    assert values.listed(text) == ()


def test_values_cannot_be_changed() -> None:
    saved = values.Saved("id")
    with pytest.raises(AttributeError):
        saved.id = "other"  # type: ignore[misc]
