"""JSON web tokens are found as their regular expression finds them, at a price that grows with the text."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ghost_memory import webtokens
from ghost_memory.webtokens import WebTokens

FORM = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")
PIECES = ["eyJ", "eyJaaaaaaaa", ".", "-", "_", "a" * 8, "a", "é", " ", "eyJ-eyJ", "."]
TOKEN = "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4"

texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def found(text: str) -> list[tuple[int, int]]:
    tokens, spans, at = WebTokens(text), [], 0
    while (span := tokens.next(at)) is not None:
        spans.append(span)
        at = span[1]
    return spans


@given(texts)
@example(TOKEN)
@example(f"-{TOKEN}.eyJaaaaaaaa.aaaaaaaa")
@example(f"eyJ-{TOKEN}")
@example(f"é{TOKEN}")
@example("eyJaaaaaaaa..eyJaaaaaaaa.aaaaaaaa")
def test_tokens_are_those_of_the_form(text: str) -> None:
    assert found(text) == [each.span() for each in FORM.finditer(text)]


@given(texts, st.integers(0, 60))
def test_from_any_place_on_too(text: str, at: int) -> None:
    expected = FORM.search(text, at)
    assert WebTokens(text).next(at) == (expected.span() if expected else None)


@pytest.mark.parametrize("unit", ["eyJ-", "-eyJaaaaaaaa", "eyJaaaaaaaa.", "eyJ-eyJaaaaaaaa."])
def test_the_parts_that_are_read_grow_no_faster_than_the_text(unit: str) -> None:
    """Each part is searched once, and no two overlap."""
    for count in (10, 1000):
        text = unit * count
        runs = webtokens._runs(text)
        assert sum(run.last - run.first for run in runs) <= len(text)
        assert all(one.last < two.first for one, two in pairwise(runs))
