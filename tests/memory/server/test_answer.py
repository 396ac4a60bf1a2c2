from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import UsageError
from ghost_memory.quotation import quoted
from ghost_memory.server.answer import Entry, Page, paged, start_of
from ghost_memory.server.budget import ANSWER_COST, cost

TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=400)


def entry(text: str) -> Entry:
    return Entry(
        (text,), lambda texts: f"- {quoted(texts[0])}", lambda texts: {"text": quoted(texts[0])}
    )


def page(texts: list[str], *, start: int = 0, total: int | None = None) -> Page:
    return Page([entry(text) for text in texts], start, total or start + len(texts), "rows")


@given(st.lists(TEXTS, max_size=30), st.integers(1, 100))
def test_no_answer_costs_more_than_a_host_takes(texts: list[str], factor: int) -> None:
    answer = paged(page([text * factor for text in texts]), none="none")
    assert cost(answer.text) <= ANSWER_COST
    assert cost(json.dumps(dict(answer.data), ensure_ascii=False)) <= ANSWER_COST


def test_short_rows_are_all_shown_whole() -> None:
    answer = paged(page(["one", "two"]), none="none")
    assert answer.text == "- «one»\n- «two»"
    assert answer.data == {
        "rows": [{"text": "«one»"}, {"text": "«two»"}],
        "total": 2,
        "next_cursor": "",
    }


def test_a_long_row_is_cut_before_a_short_one() -> None:
    answer = paged(page(["long " * 8000, "short"]), none="none")
    assert "…»" in answer.text
    assert answer.text.endswith("- «short»")


def test_one_row_alone_is_shown_whole_up_to_the_largest_memory() -> None:
    text = "word " * 1600
    assert quoted(text.strip()) in paged(page([text.strip()]), none="none").text


def test_what_does_not_fit_is_counted_and_can_be_asked_for() -> None:
    texts = [f"{number} " + "x" * 2000 for number in range(100)]
    seen: list[str] = []
    cursor, pages = "", 0
    while cursor or not seen:
        start = start_of(cursor)
        answer = paged(page(texts[start:], start=start, total=100), none="none")
        rows = answer.data["rows"]
        assert isinstance(rows, list)
        assert rows
        seen += [row["text"].split()[0].strip("«") for row in rows]
        cursor, pages = str(answer.data["next_cursor"]), pages + 1
    assert seen == [str(number) for number in range(100)]
    assert pages > 1


def test_a_page_says_how_many_of_how_many_it_shows() -> None:
    answer = paged(page(["a", "b"], start=4, total=9), none="none")
    assert answer.text.endswith('(2 of 9 shown; the next with cursor "6")')
    assert paged(page(["a"], start=8, total=9), none="none").text.endswith("(1 of 9 shown)")


def test_an_empty_list_says_so() -> None:
    assert paged(page([]), none="No tasks found.").text == "No tasks found."


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "٣", "9" * 10])
def test_a_cursor_that_is_none_of_ours_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError) as raised:
        start_of(cursor)
    assert raised.value.code == "memory.cursor"
