from __future__ import annotations

import pytest

from ghost_memory.bench import origin
from ghost_memory.bench.fixtures import Record
from ghost_memory.bench.origin import Rules
from ghost_memory.bench.store import filled


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", ""),
        ("?! ...", ""),
        ('what is "192.168.9.150"?', '"what" OR "is" OR "192.168.9.150"'),
        ('say "he"llo"', '"say" OR "he""llo"'),
        (" ".join("abcdefghijklm"), " OR ".join(f'"{each}"' for each in "abcdefghij")),
    ],
)
def test_its_query_is_ten_phrases_of_what_stands_between_spaces(text: str, query: str) -> None:
    assert origin.query(text) == query


def test_full_decay_puts_new_above_right_and_a_tie_break_does_not() -> None:
    records = [
        Record("right", "the network magic of mainnet", "dependency", age_days=600),
        Record("newer", "the network magic", "dependency", age_days=1),
    ]
    with filled(records) as connection:
        origin.index(connection)

        def first(rules: Rules) -> str:
            return origin.ranked(connection, "magic of mainnet", rules=rules)[0]

        assert first(Rules(decay=1.0)) == "newer"
        assert [first(Rules()), first(Rules(decay=0.01))] == ["right", "right"]


def test_demotion_sinks_what_was_replaced() -> None:
    records = [
        Record("old", "port port 22"),
        Record("new", "the port is 2222", supersedes=("old",)),
    ]
    with filled(records) as connection:
        origin.index(connection)
        assert origin.ranked(connection, "port 22", rules=Rules()) == ["old", "new"]
        assert origin.ranked(connection, "port 22", rules=Rules(demote=True)) == ["new", "old"]
