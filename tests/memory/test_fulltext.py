from __future__ import annotations

import pytest

from ghost_memory import fulltext, words
from support.memory import Store


def found(memory: Store, text: str, **more: object) -> list[str]:
    options = {"projects": None, "limit": 10, **more}
    return memory.read(
        lambda connection: list(fulltext.scores(connection, words.query(text), **options))  # type: ignore[arg-type]
    )


def test_the_best_match_comes_first_and_scores_are_positive(memory: Store) -> None:
    both = memory.save("the gateway listens on port 8402").id
    one = memory.save("the gateway is written in Rust").id
    scores = memory.read(
        lambda c: fulltext.scores(c, words.query("gateway port"), projects=None, limit=10)
    )
    assert list(scores) == [both, one]
    assert scores[both] > scores[one] > 0


def test_a_match_in_the_text_counts_more_than_one_in_the_tags(memory: Store) -> None:
    tagged = memory.save("it restarts at night always", tags=("zebra",)).id
    said = memory.save("the zebra restarts at night").id
    assert found(memory, "zebra") == [said, tagged]


def test_only_the_projects_asked_for_are_searched(memory: Store) -> None:
    memory.save("the zebra runs", "other")
    mine = memory.save("the zebra sleeps", "app").id
    assert found(memory, "zebra", projects={"app"}) == [mine]


def test_a_category_is_filtered_before_the_list_is_cut(memory: Store) -> None:
    for number in range(5):
        memory.save(f"zebra zebra zebra {number} {number * 7919}", category="fact")
    wanted = memory.save("a long note in which somewhere a zebra is named", category="gotcha").id
    assert found(memory, "zebra", category="gotcha", limit=1) == [wanted]


def test_equal_scores_go_by_importance(memory: Store) -> None:
    less = memory.save("zebra alpha", importance=0.2).id
    more = memory.save("zebra omega", importance=0.9).id
    assert found(memory, "zebra") == [more, less]


@pytest.mark.parametrize("part", ["记住", "東京", "サーバ", "백업"])
def test_a_part_of_unspaced_text_is_found(memory: Store, part: str) -> None:
    kept = memory.save(f"我们{part}这个 gen-itgc 规则").id
    assert found(memory, part) == [kept]


def test_an_identifier_glued_to_unspaced_text_is_found(memory: Store) -> None:
    kept = memory.save("规则gen-itgc在这里").id
    assert found(memory, "gen-itgc") == [kept]


def test_what_is_written_as_one_ranks_above_its_scattered_pieces(memory: Store) -> None:
    memory.save("150 hosts of 192 are in rack 9, 168 are spare")
    whole = memory.save("the node answers at 192.168.9.150 only").id
    assert found(memory, "192.168.9.150")[0] == whole


def test_nothing_is_found_for_no_words(memory: Store) -> None:
    memory.save("the zebra runs")
    assert found(memory, "?!") == []
