"""What a search is asked and what it answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ghost_memory.asking import Found, Hit, Query, Vectors
from support.memory import Store


class Near:
    """A vector leg that knows one memory."""

    weight = 0.3

    def __init__(self, known: str) -> None:
        self.known = known

    def near(
        self, text: str, *, projects: Collection[str] | None, limit: int
    ) -> Mapping[str, float]:
        return {self.known: 0.9} if projects is None or "app" in projects else {}


def test_a_query_asks_all_projects_for_ten_unless_told_otherwise() -> None:
    query = Query("port")
    assert (query.project, query.category, query.limit, query.offset) == (None, "", 10, 0)


def test_an_answer_can_be_made_of_what_is_stored(memory: Store) -> None:
    kept = memory.keep("the port is 8402")
    leg: Vectors = Near(kept.id)
    scores = leg.near("port", projects=None, limit=5)
    found = Found(
        (Hit(kept, kept.project_id, scores[kept.id], legs={"vector": 0.9}),), "answerable"
    )
    assert [hit.memory.content for hit in found.hits] == ["the port is 8402"]
    assert leg.near("port", projects={"other"}, limit=5) == {}
    assert (found.withheld, found.degraded, found.hits[0].label) == (0, "", "")
