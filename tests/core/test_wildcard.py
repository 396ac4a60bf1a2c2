from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ghost_core.wildcard import compiled

WHOLE_SECONDS = 1.0
PIECES = st.lists(st.text("a-/", max_size=3), min_size=1, max_size=5)


def plainly(literals: list[str], *, rest: bool) -> re.Pattern[str]:
    """The same pattern, tried in every way."""
    tail = r"(?:/.*)?\Z" if rest else r"\Z"
    return re.compile("[^/]+".join(map(re.escape, literals)) + tail, re.DOTALL)


@given(PIECES, st.booleans(), st.text("a-/", max_size=12))
@example(["", "a", ""], False, "aaa")
@example(["/", "", ""], False, "/a")
@example(["/", "-a/", "-"], True, "/a-a-a/--/x")
def test_it_matches_what_the_plain_expression_matches(
    literals: list[str], rest: bool, path: str
) -> None:
    wanted = plainly(literals, rest=rest).match(path) is not None
    assert (compiled(literals, rest=rest).match(path) is not None) is wanted


@pytest.mark.parametrize("wildcards", [2, 3, 8])
@pytest.mark.parametrize("end", ["/x", "", "!"])
def test_no_path_takes_longer_than_its_length(wildcards: int, end: str) -> None:
    pattern = compiled(["/v1/", *["-"] * wildcards, "x/y"], rest=False)
    began = time.monotonic()
    assert not pattern.match("/v1/" + "-" * 32_000 + end)
    assert time.monotonic() - began < WHOLE_SECONDS
