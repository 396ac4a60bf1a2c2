from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import UnavailableError, UsageError
from ghost_core.settings_models import SearchSettings
from ghost_memory import changing, links, words
from ghost_memory.asking import Found, Query, Vectors
from ghost_memory.search import search
from ghost_memory.values import GLOBAL
from support.memory import Store


@dataclass
class Near:
    """Says which memories are near, whatever is asked; remembers how it was asked."""

    cosines: Mapping[str, float]
    weight: float = 0.3
    asked: list[tuple[Collection[str] | None, int]] = field(default_factory=list)

    def near(
        self, text: str, *, projects: Collection[str] | None, limit: int
    ) -> Mapping[str, float]:
        self.asked.append((projects, limit))
        return dict(sorted(self.cosines.items(), key=lambda each: -each[1])[:limit])


class Down:
    """A model that cannot be asked."""

    weight = 0.3

    def near(self, text: str, *, projects: Collection[str] | None, limit: int) -> dict[str, float]:
        raise UnavailableError("ollama: does not answer")


def ask(
    memory: Store,
    text: str,
    *,
    project: str | None = "app",
    vectors: Vectors | None = None,
    rules: SearchSettings | None = None,
    category: str = "",
    limit: int = 10,
    offset: int = 0,
) -> Found:
    query = Query(text, project, category, limit, offset)
    now = memory.journal.now()
    return memory.read(
        lambda c: search(c, query, vectors=vectors, settings=rules or SearchSettings(), now=now)
    )


def ids(found: Found) -> list[str]:
    return [each.memory.id for each in found.hits]


def expire(memory: Store, memory_id: str) -> None:
    memory.write(lambda w: changing._set(w, memory.get(memory_id), {"valid_until": w.now}))


def test_a_hit_tells_its_project_and_what_each_leg_said(memory: Store) -> None:
    one = memory.save("the gateway listens on port 8402").id
    hit = ask(memory, "gateway port", vectors=Near({one: 0.8})).hits[0]
    assert (hit.memory.id, hit.project, hit.label, hit.replaced_by) == (one, "app", "", "")
    assert hit.legs["vector"] == 0.8
    assert hit.legs["words"] > 0


def test_what_only_the_vector_found_is_said_to_share_no_word(memory: Store) -> None:
    one = memory.save("the gateway listens on port 8402").id
    near = Near({one: 0.8})
    found = ask(memory, "qqqq zzz", vectors=near)
    assert (found.verdict, found.reason) == ("weak", "no word shared, by meaning only")
    some = ask(memory, "who approves holidays of the gateway team", vectors=near)
    assert (some.verdict, some.reason) == ("weak", "few words shared")


def test_without_a_project_all_are_searched(memory: Store) -> None:
    one, two = memory.save("zebra red", "app").id, memory.save("zebra green", "other").id
    assert set(ids(ask(memory, "zebra", project=None))) == {one, two}
    assert ids(ask(memory, "zebra", project="other")) == [two]


def test_vectors_find_what_shares_no_word(memory: Store) -> None:
    one = memory.save("amounts are integers in cents").id
    vectors = Near({one: 0.7})
    found = ask(memory, "floats for prices", vectors=vectors)
    assert ids(found) == [one]
    assert found.verdict == "weak"
    assert vectors.asked[0][0] == {"app", GLOBAL}


def test_a_memory_of_another_project_that_a_vector_leg_names_is_not_shown(memory: Store) -> None:
    other = memory.save("zebra", "other").id
    assert ids(ask(memory, "horse", vectors=Near({other: 0.9}))) == []


def test_a_model_that_is_down_leaves_the_words_and_a_flag(memory: Store) -> None:
    one = memory.save("the gateway listens on port 8402").id
    found = ask(memory, "gateway", vectors=Down())
    assert ids(found) == [one]
    assert found.degraded == "ollama: does not answer"
    assert ask(memory, "gateway").degraded == ""


def test_few_shared_words_let_the_vectors_decide(memory: Store) -> None:
    shares = memory.save("the team meets on mondays").id
    means = memory.save("vacation is granted by the lead").id
    vectors = Near({means: 0.9, shares: 0.1})
    asked = "who in the team signs off holiday leave requests"
    assert ids(ask(memory, asked, vectors=vectors))[0] == means
    assert ids(ask(memory, "when the team meets", vectors=vectors))[0] == shares


def test_the_weight_is_that_of_the_embedder_unless_it_was_set(memory: Store) -> None:
    said = memory.save("zebra crossing").id
    near = memory.save("striped animal").id
    strong = Near({near: 0.9, said: 0.1}, weight=0.9)
    assert ids(ask(memory, "zebra crossing", vectors=strong))[0] == near
    chosen = SearchSettings(vector_weight=Decimal("0.1"))
    assert ids(ask(memory, "zebra crossing", vectors=strong, rules=chosen))[0] == said


def test_reciprocal_ranks_can_be_chosen(memory: Store) -> None:
    one, two = memory.save("zebra crossing").id, memory.save("striped animal").id
    rules = SearchSettings(fusion="rrf", vector_weight=Decimal("0.7"))
    found = ask(memory, "zebra crossing", vectors=Near({two: 0.9, one: 0.8}), rules=rules)
    assert [round(each.score, 6) for each in found.hits] == [
        round(0.7 / 62 + 0.3 / 61, 6),
        round(0.7 / 61, 6),
    ]


def test_what_was_replaced_stands_below_its_replacement_and_points_to_it(memory: Store) -> None:
    old = memory.save("the status page is served at status.example.io").id
    new = memory.save("the page about incidents moved to example.com", supersedes=(old,)).id
    found = ask(memory, "status page served at status.example.io")
    assert ids(found) == [new, old]
    assert [(each.label, each.replaced_by) for each in found.hits] == [("", ""), ("replaced", new)]


def test_the_replacement_comes_along_though_it_shares_no_word(memory: Store) -> None:
    old = memory.save("jenkins builds the images").id
    middle = memory.save("a robot makes them", supersedes=(old,)).id
    new = memory.save("github actions do all of it", supersedes=(middle,)).id
    found = ask(memory, "jenkins")
    assert ids(found)[0] == new
    assert {each.memory.id: each.replaced_by for each in found.hits}[old] == new


def test_an_edge_from_another_project_replaces_nothing_here(memory: Store) -> None:
    old = memory.save("jenkins builds the images", GLOBAL).id
    foreign = memory.save("robots do it", "other").id
    memory.write(lambda w: links.link(w, foreign, old, "supersedes", strength=1.0, source="manual"))
    (hit,) = ask(memory, "jenkins").hits
    assert (hit.memory.id, hit.label, hit.replaced_by) == (old, "", "")


def test_what_is_no_longer_valid_is_withheld_and_counted(memory: Store) -> None:
    gone, here = memory.save("zebra code is 4711").id, memory.save("zebra code is gone").id
    expire(memory, gone)
    found = ask(memory, "zebra code")
    assert (ids(found), found.withheld, found.total) == ([here], 1, 1)
    expire(memory, here)
    found = ask(memory, "zebra code")
    assert (found.verdict, found.reason, found.withheld) == ("empty", "all withheld", 2)


def test_an_expired_replacement_does_not_lift_anything(memory: Store) -> None:
    old = memory.save("jenkins builds the images").id
    new = memory.save("robots do it", supersedes=(old,)).id
    expire(memory, new)
    assert ids(ask(memory, "jenkins")) == [old]


def test_concluded_evidence_comes_after_what_is_open_but_is_found(memory: Store) -> None:
    closed = memory.save("the crash of the importer was caused by a null date").id
    open_ = memory.save("the importer may crash on large files").id
    memory.write(lambda w: changing.resolve(w, "app", [closed]))
    found = ask(memory, "importer crash null date")
    assert ids(found) == [open_, closed]
    assert found.hits[1].label == "resolved"


def test_what_all_share_comes_after_the_projects_own_but_has_its_place(memory: Store) -> None:
    shared = memory.save("commits are signed with the release key of the team", GLOBAL).id
    for number in range(30):
        memory.save(f"commits number {number} and {number * 7919} were fine")
    found = ask(memory, "commits signed release key team", limit=5)
    assert shared in ids(found)


def test_words_alone_have_their_places_beside_a_strong_vector_leg(memory: Store) -> None:
    said = memory.save("error PAY-4172 is a timeout").id
    near = {memory.save(f"note {n} {n * 7919}").id: 0.9 - n / 100 for n in range(40)}
    rules = SearchSettings(fusion="rrf", vector_weight=Decimal("0.7"))
    assert said in ids(ask(memory, "PAY-4172", vectors=Near(near), rules=rules, limit=5))


def test_the_weak_end_is_cut_off_but_not_what_is_pinned(memory: Store) -> None:
    best = memory.save("alpha").id
    far = {memory.save(f"note {n} {n * 7919}", importance=0.0).id: 0.1 for n in range(3)}
    pinned = next(iter(far))
    memory.write(lambda w: changing.pin(w, "app", pinned, pinned=True))
    found = ask(memory, "alpha", vectors=Near({best: 0.9, **far}))
    assert set(ids(found)) == {best, pinned}


def test_a_category_narrows_before_the_window_closes(memory: Store) -> None:
    for number in range(30):
        memory.save(f"zebra zebra {number} {number * 7919}")
    one = memory.save("some long text in which a zebra occurs too", category="gotcha").id
    assert ids(ask(memory, "zebra", category="gotcha", limit=3)) == [one]
    with pytest.raises(UsageError, match="architecture"):
        ask(memory, "zebra", category="bogus")


def test_pages_neither_repeat_nor_skip(memory: Store) -> None:
    kept = {memory.save(f"zebra {n} {n * 7919}").id for n in range(23)}
    pages = [ask(memory, "zebra", limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    seen = [each for page in pages for each in ids(page)]
    assert len(seen) == len(set(seen))
    assert set(seen) == kept
    assert {page.total for page in pages} == {23}


def test_age_only_breaks_ties(memory: Store) -> None:
    right = memory.save("the mainnet magic number is 764824073", category="dependency").id
    memory.clock.pass_seconds(500 * 86_400)
    memory.save("the magic of preview is 2", category="dependency")
    assert ids(ask(memory, "mainnet magic number"))[0] == right
    full = ask(memory, "mainnet magic number", rules=SearchSettings(decay="full"))
    assert ids(full)[0] != right


@pytest.mark.parametrize(
    "text",
    ["", " ", "\0", "pre-edit", "memory:safe", 'a "', "foo AND", "NEAR(", "(python", "C++", "*"],
)
def test_no_text_is_an_error(memory: Store, text: str) -> None:
    memory.save("python is used before pre-edit hooks in memory safe C")
    assert ask(memory, text).verdict in {"answerable", "weak", "empty"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_any_text_has_an_answer(memory: Store, text: str) -> None:
    assert ask(memory, text, vectors=Near({})).total >= 0


def test_stop_words_alone_still_find_something(memory: Store) -> None:
    one = memory.save("to be or not to be").id
    assert ids(ask(memory, "to be or")) == [one]


def test_a_refusal_finds_the_rule_and_not_its_counterpart(memory: Store) -> None:
    memory.save("log the id of each payment request")
    rule = memory.save("never log the body of a payment request").id
    assert ids(ask(memory, "what must not be logged of a payment request"))[0] == rule


def test_a_word_is_found_where_the_stemmer_keeps_its_forms_apart(memory: Store) -> None:
    one = memory.save("deployments run through pipelines").id
    assert ids(ask(memory, "how do we deploy")) == [one]
    assert '"deploy"' in words.query("the deployment")


def test_a_question_longer_than_any_memory_takes_no_time(memory: Store) -> None:
    one = memory.save("python runs hooks").id
    started = time.monotonic()
    assert ids(ask(memory, "python " + "统计" * 20_000)) in ([], [one])
    assert time.monotonic() - started < 3.0
