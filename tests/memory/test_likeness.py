"""How alike two texts are: the gates of the origin, pinned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.likeness import likeness
from ghost_memory.words import tokens

SETS = st.frozensets(st.text("abcdefgh", min_size=1, max_size=2), max_size=12)


def alike(one: str, two: str) -> float:
    return likeness(tokens(one), tokens(two))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("", ""),
        ("...", "..."),
        ("proxy port", ""),
        ("one shared word here", "shared by nothing else"),
        ("aa bb cc dd", "aa bb cc dd ee ff gg hh ii"),  # 4 of 9: the smaller has under five words
        ("aa bb cc dd ee", "aa bb cc dd ee ff gg hh ii jj kk"),  # 5 of 11: under 0.6 in size
        ("aa bb cc dd ee", "aa bb xx yy zz ww"),  # 2 of 5 common
    ],
)
def test_these_are_no_twins(one: str, two: str) -> None:
    assert alike(one, two) == 0.0


def test_the_jaccard_gate_is_a_half() -> None:
    assert alike("aa bb cc", "aa bb dd") == 0.5
    assert alike("aa bb cc dd", "aa bb ee ff") == 0.0


def test_overlap_counts_for_similar_lengths_from_five_words_on() -> None:
    # 3 common of 5 and 8: Jaccard 0.3, ratio 0.625, overlap 0.6
    assert alike("aa bb cc dd ee", "aa bb cc xx yy zz ww vv") == 0.6


def test_a_paraphrase_of_other_length_is_a_twin() -> None:
    long = "the staging proxy listens on port eight four zero two behind the gateway"
    short = "staging proxy listens on port eight four zero two"
    assert alike(long, short) > 0.5


@given(SETS, SETS)
def test_likeness_has_no_direction_and_a_range(one: frozenset[str], two: frozenset[str]) -> None:
    score = likeness(one, two)
    assert score == likeness(two, one)
    assert score == 0.0 or 0.5 <= score <= 1.0
    assert likeness(one, one) == (1.0 if one else 0.0)
