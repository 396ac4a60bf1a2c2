"""Pages of a list."""

from __future__ import annotations

import pytest

from ghost_memory.limits import LIST_LIMIT
from ghost_memory.paging import Listing
from support.memory import Store

NAMES = Listing("projects", "name", "name DESC", 2)


@pytest.fixture(autouse=True)
def _projects(memory: Store) -> None:
    for name in ("a", "b", "c", "d"):
        memory.save("text", project=name)


@pytest.mark.parametrize(
    ("limit", "offset", "shown"),
    [(0, 0, "dc"), (3, 0, "dcb"), (3, 2, "ba"), (1, -5, "d"), (10**30, 0, "dcba"), (3, 10**30, "")],
)
def test_a_page_is_a_part_of_the_list_in_its_order(
    memory: Store, limit: int, offset: int, shown: str
) -> None:
    rows, total = memory.read(lambda c: NAMES.page(c, "1 = 1", {}, limit=limit, offset=offset))
    assert ("".join(row["name"] for row in rows), total) == (shown, 4)
    assert len(rows) <= LIST_LIMIT


def test_a_list_among_the_values_says_which_rows_count(memory: Store) -> None:
    values = {"wanted": ["a", "c", "none"], "not": "a"}
    rows, total = memory.read(
        lambda c: NAMES.page(c, "name IN :wanted AND name <> :not", values, limit=0, offset=0)
    )
    assert ([row["name"] for row in rows], total) == (["c"], 1)
