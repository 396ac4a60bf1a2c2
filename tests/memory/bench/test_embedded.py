from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ghost_memory.bench import embedded
from ghost_memory.bench.fixtures import Dataset, Graded, Record


class Letters:
    """Counts a, b and c; what is searched for is asked as such."""

    weight = 0.4

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> npt.NDArray[np.float32]:
        self.asked += texts if query else ()
        return np.asarray([[t.count(letter) for letter in "abc"] for t in texts], dtype=np.float32)


def test_records_and_questions_are_embedded_once_each() -> None:
    letters = Letters()
    data = Dataset(
        "mine",
        (Record("one", "aaa", project="x"), Record("two", "abb", project="y")),
        (Graded("q1", "b", {"two": 1.0}), Graded("q2", "b", {"two": 1.0})),
    )
    made = embedded.by(letters)(data)
    assert made.weight == 0.4
    assert letters.asked == ["b"]
    assert list(made.near("b", projects=None, limit=9)) == ["two", "one"]
    assert list(made.near("b", projects={"x"}, limit=9)) == ["one"]
