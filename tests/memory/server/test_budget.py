from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.quotation import MORE
from ghost_memory.server.budget import clip, cost, share


@given(st.text(), st.integers(1, 300))
def test_a_clipped_text_costs_no_more_than_allowed(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert cost(clipped) <= limit + cost(MORE)
    assert clipped == text or clipped.endswith(MORE)


@given(st.text())
def test_a_text_within_the_limit_stays_whole(text: str) -> None:
    assert clip(text, cost(text)) == text


@given(st.text())
def test_cost_is_at_least_half_of_the_bytes(text: str) -> None:
    size = len(text.encode("utf-8", "replace"))
    assert size / 2 <= cost(text) <= size


def test_what_is_not_plain_latin_costs_every_byte() -> None:
    assert cost("漢字") == 6
    assert cost("1234") == 4


@given(st.lists(st.integers(0, 1000)), st.integers(0, 5000))
def test_a_share_keeps_the_budget_and_wastes_none_of_it(costs: list[int], budget: int) -> None:
    level = share(costs, budget)
    spent = sum(min(each, level) for each in costs)
    assert spent <= budget
    assert spent == sum(costs) or budget - spent < len(costs)
