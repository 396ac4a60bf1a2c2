"""Saving: nothing merges, nothing is lost."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, UsageError
from ghost_memory import changing, saving, words
from ghost_memory.limits import CATEGORIES
from ghost_memory.saving import Note
from ghost_memory.values import GLOBAL
from support.memory import PROJECT, SECRET, Store

ANY = st.text(st.characters(), max_size=200)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


def test_a_saved_text_is_there_with_its_entry(memory: Store) -> None:
    kept = memory.keep("the port is 8402", tags=("network",), category="gotcha", importance=0.4)
    assert (kept.content, kept.project_id, kept.tags) == ("the port is 8402", "app", ("network",))
    assert (kept.category, kept.importance, kept.source) == ("gotcha", 0.4, "mcp")
    assert (kept.pinned, kept.resolved_at, kept.access_count) == (False, None, 0)
    assert kept.created_at == kept.updated_at == memory.journal.now()
    assert memory.kinds() == ["project.created", "memory.saved"]


def test_one_shared_word_links_nothing(memory: Store) -> None:
    memory.save("the database runs on machine twelve")
    assert memory.save("database backups happen nightly").twin == ""
    assert memory.links() == []


def test_texts_without_words_link_nothing(memory: Store) -> None:
    memory.save("...")
    second = memory.save("!!!")
    assert (second.existing, second.twin) == (False, "")


def test_a_likely_twin_is_linked_and_both_are_kept(memory: Store) -> None:
    first = memory.keep("the staging proxy listens on port 8402 behind the gateway", importance=0.5)
    memory.clock.pass_seconds(60)
    second = memory.save("staging proxy listens on port 8402", importance=0.5)
    assert (second.existing, second.twin) == (False, first.id)
    assert second.likeness >= 0.5
    assert memory.links() == [(second.id, first.id, "duplicate")]
    after = memory.get(first.id)
    assert after.importance == pytest.approx(0.6)
    assert (after.content, after.updated_at, after.access_count) == (
        first.content,
        first.updated_at,
        1,
    )


def test_importance_ends_at_1(memory: Store) -> None:
    first = memory.save("the port is 8402", importance=0.95).id
    for _ in range(3):
        memory.save("the port is 8402", importance=1.0)
    assert memory.get(first).importance == 1.0


def test_a_twin_is_looked_for_in_its_own_project_and_category(memory: Store) -> None:
    memory.save("the staging proxy listens on port 8402")
    text = "the staging proxy listens on port 8402 now"
    assert memory.save(text, project="other").twin == ""
    assert memory.save(text, category="gotcha").twin == ""
    assert memory.save(text).twin != ""


def test_a_number_that_differs_is_another_memory(memory: Store) -> None:
    for version in ("3.12", "3.13", "3.14"):
        memory.save(f"the build uses Python {version} in every pipeline of the house")
    assert memory.rows("SELECT count(*) FROM memories") == [3]


def test_the_same_text_is_the_row_that_is_there(memory: Store) -> None:
    first = memory.save("the port is 8402", tags=("a",))
    second = memory.save("  the port\n is 8402 ", tags=("b", "a"))
    assert (second.id, second.existing) == (first.id, True)
    assert memory.rows("SELECT count(*) FROM memories") == [1]
    assert memory.get(first.id).tags == ("a", "b")
    assert memory.found("b") == [first.id]
    assert memory.kinds()[-1] == "memory.seen"


def test_the_same_text_elsewhere_is_a_row_of_its_own(memory: Store) -> None:
    for project, category in ((PROJECT, "fact"), (PROJECT, "gotcha"), ("other", "fact")):
        assert not memory.save("the port is 8402", project=project, category=category).existing


def test_saving_again_makes_a_resolved_memory_live(memory: Store) -> None:
    first = memory.save("the port is 8402").id
    memory.write(lambda w: changing.resolve(w, PROJECT, [first]))
    memory.save("the port is 8402")
    assert memory.get(first).resolved_at is None


def test_replaced_memories_are_linked(memory: Store) -> None:
    old, other = memory.save("the port is 8402").id, memory.save("staging has one").id
    new = memory.save("we moved to 9000", supersedes=(old[:8], other))
    assert new.superseded == (old, other)
    assert memory.links() == [(new.id, old, "supersedes"), (new.id, other, "supersedes")]
    assert memory.get(old).content == "the port is 8402"


def test_what_is_named_twice_is_replaced_once_and_not_too_much_at_once(memory: Store) -> None:
    old = memory.save("the port is 8402").id
    assert memory.save("we moved to 9000", supersedes=(old, old[:8], old)).superseded == (old,)
    with pytest.raises(UsageError) as caught:
        memory.save("all at once", supersedes=(old,) * 101)
    assert caught.value.code == "memory.supersedes"


def test_a_fact_that_comes_back_replaces_what_replaced_it(memory: Store) -> None:
    old = memory.save("the port is 8402").id
    new = memory.save("we moved to 9000", supersedes=(old,)).id
    again = memory.save("the port is 8402", supersedes=(new,))
    assert (again.id, again.superseded) == (old, (new,))
    live = "SELECT source_id, target_id FROM memory_links WHERE invalidated_at IS NULL"
    assert memory.rows(live) == [(old, new)]


@pytest.mark.parametrize("owner", ["other", GLOBAL])
@pytest.mark.parametrize("named", ["none", "nothing-like-this", ""])
def test_a_replacement_that_cannot_be_leaves_nothing(memory: Store, named: str, owner: str) -> None:
    foreign = memory.save("of another project", project=owner).id
    with pytest.raises(GhostError):
        memory.save("a new text", supersedes=(named or foreign,))
    assert memory.rows("SELECT content FROM memories") == ["of another project"]
    assert "app" not in memory.rows("SELECT id FROM projects")


@pytest.mark.parametrize("content", ["", " \n\t", "\0"[:0]])
def test_nothing_is_not_a_memory(memory: Store, content: str) -> None:
    with pytest.raises(UsageError) as caught:
        memory.save(content)
    assert caught.value.code == "memory.content"


@pytest.mark.parametrize(
    ("part", "code"), [("category", "memory.category"), ("source", "memory.source")]
)
def test_an_unknown_name_is_answered_with_the_known(memory: Store, part: str, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        memory.write(lambda w: saving.save(w, PROJECT, Note("text", **{part: "nonsense"})))
    assert caught.value.code == code
    assert memory.kinds() == []


def test_a_long_text_is_cut_between_characters_and_that_is_said(memory: Store) -> None:
    saved = memory.save("é" * 5000)
    assert saved.shortened
    assert memory.get(saved.id).content == "é" * 4000
    assert memory.save("é" * 5000).existing


@pytest.mark.parametrize("importance", [math.nan, math.inf, -math.inf, 5.0, -1.0])
def test_any_importance_is_kept_within_its_range(memory: Store, importance: float) -> None:
    assert 0.0 <= memory.keep("text", importance=importance).importance <= 1.0


def test_no_save_keeps_a_secret(memory: Store) -> None:
    saved = memory.save(f"the token is {SECRET}", tags=(SECRET, f"t {SECRET}"))
    assert (saved.removed, "secret removed" in memory.get(saved.id).content) == (1, True)
    memory.save(f"the token is {SECRET}")
    with pytest.raises(UsageError):
        memory.save("text", project=SECRET)
    with pytest.raises(UsageError):
        memory.save("text", category=SECRET)
    for named in (SECRET, f"x {SECRET}"):
        with pytest.raises(GhostError):
            memory.save("text", supersedes=(named,))
    memory.recorder.sync_head()
    assert SECRET.encode() not in memory.on_disk()
    assert memory.found(SECRET) == []


@QUICK
@given(
    ANY,
    st.lists(ANY, max_size=12),
    st.sampled_from([*CATEGORIES, "nonsense"]),
    st.floats(),
    st.lists(ANY, max_size=1),
)
def test_any_save_is_kept_whole_or_refused(  # noqa: PLR0917  # one for each part
    memory: Store, content: str, tags: list[str], category: str, importance: float, older: list[str]
) -> None:
    before = memory.rows("SELECT count(*) FROM memories")
    entered = len(memory.kinds())
    note = Note(content, category, importance, tags, supersedes=older)
    try:
        saved = memory.write(lambda w: saving.save(w, PROJECT, note))
    except GhostError:
        assert memory.rows("SELECT count(*) FROM memories") == before
        assert len(memory.kinds()) == entered
        return
    kept = memory.get(saved.id)
    assert len(memory.kinds()) > entered
    assert saved.existing or json.loads(
        memory.rows("SELECT tags FROM memories WHERE id = ?", kept.id)[0]
    ) == list(kept.tags)
    if words.query(kept.content):
        memory.found(kept.content)
