from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.choice import BEHAVIOUR, CAPS, FLOOR, chosen
from ghost_memory.limits import CATEGORIES
from ghost_memory.values import Memory

ROW = Memory("", "app", "fact", "text", 0.5, (), False, "mcp", "", "", 0)


def rows(*categories: str, pinned: tuple[int, ...] = ()) -> list[Memory]:
    return [
        ROW._replace(id=str(place), category=each, pinned=place in pinned)
        for place, each in enumerate(categories)
    ]


def ids(found: list[Memory]) -> list[int]:
    return [int(each.id) for each in found]


def test_what_tells_how_to_work_has_its_slots() -> None:
    ranked = rows(*["fact"] * 20, *["convention"] * 20)
    assert ids(chosen(ranked, limit=15)) == [*range(7), *range(20, 28)]


def test_one_category_does_not_take_all_of_them() -> None:
    ranked = rows(*["fact"] * 20, *["gotcha"] * 6, "preference", "decision")
    assert ids(chosen(ranked, limit=15)) == [*range(9), 20, 21, 22, 23, 26, 27]


def test_a_pinned_row_is_in_however_low_it_ranks() -> None:
    ranked = rows(*["gotcha"] * 30, "fact", pinned=(30,))
    assert 30 in ids(chosen(ranked, limit=3))


def test_slots_that_behaviour_does_not_need_go_by_rank() -> None:
    assert ids(chosen(rows(*["gotcha"] * 10), limit=6)) == list(range(6))


@given(
    st.lists(st.tuples(st.sampled_from(CATEGORIES), st.booleans()), max_size=40),
    st.integers(min_value=1, max_value=20),
)
def test_the_slots_are_filled_and_the_order_is_kept(
    said: list[tuple[str, bool]], limit: int
) -> None:
    ranked = [
        ROW._replace(id=str(place), category=category, pinned=pinned)
        for place, (category, pinned) in enumerate(said)
    ]
    found = ids(chosen(ranked, limit=limit))
    assert found == sorted(found)
    assert len(found) == min(limit, len(ranked))


def test_the_floor_is_within_the_categories_there_are() -> None:
    assert set(CATEGORIES) >= BEHAVIOUR >= set(CAPS)
    assert FLOOR < 15
