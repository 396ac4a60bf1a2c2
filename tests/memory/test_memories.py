"""Saving, changing and deleting memories."""

from __future__ import annotations

import json
import math

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, NotFoundError, UsageError
from ghost_memory import links, memories, words
from ghost_memory.limits import CATEGORIES
from ghost_memory.memories import Fields, Note
from ghost_memory.values import GLOBAL
from support.memory import PROJECT, Store

ANY = st.text(st.characters(), max_size=200)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"


def search(memory: Store, asked: str) -> list[str]:
    """Return the ids that the full-text index finds."""
    query = words.query(asked)
    return memory.rows(
        "SELECT m.id FROM memories_fts f JOIN memories m ON m.seq = f.rowid WHERE memories_fts MATCH ?",
        query,
    ) if query else []  # fmt: skip


def link_rows(memory: Store) -> list[tuple[str, str, str]]:
    return memory.rows("SELECT source_id, target_id, relation FROM memory_links ORDER BY rowid")


def test_a_saved_text_is_there_with_its_entry(memory: Store) -> None:
    kept = memory.keep("the port is 8402", tags=("network",), category="gotcha", importance=0.4)
    assert (kept.content, kept.project_id, kept.tags) == ("the port is 8402", "app", ("network",))
    assert (kept.category, kept.importance, kept.source) == ("gotcha", 0.4, "mcp")
    assert (kept.pinned, kept.resolved_at, kept.access_count) == (False, None, 0)
    assert kept.created_at == kept.updated_at == memory.journal.now()
    assert memory.kinds() == ["project.created", "memory.saved"]


# --- saving: nothing merges, nothing is lost ---


def test_one_shared_word_links_nothing(memory: Store) -> None:
    memory.save("the database runs on machine twelve")
    assert memory.save("database backups happen nightly").twin == ""
    assert link_rows(memory) == []


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
    assert link_rows(memory) == [(second.id, first.id, "duplicate")]
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
    assert search(memory, "b") == [first.id]
    assert memory.kinds()[-1] == "memory.seen"


def test_the_same_text_elsewhere_is_a_row_of_its_own(memory: Store) -> None:
    for project, category in ((PROJECT, "fact"), (PROJECT, "gotcha"), ("other", "fact")):
        assert not memory.save("the port is 8402", project=project, category=category).existing


def test_saving_again_makes_a_resolved_memory_live(memory: Store) -> None:
    first = memory.save("the port is 8402").id
    memory.write(lambda w: memories.resolve(w, PROJECT, [first]))
    memory.save("the port is 8402")
    assert memory.get(first).resolved_at is None


def test_replaced_memories_are_linked(memory: Store) -> None:
    old, other = memory.save("the port is 8402").id, memory.save("staging has one").id
    new = memory.save("we moved to 9000", supersedes=(old[:8], other))
    assert new.superseded == (old, other)
    assert link_rows(memory) == [(new.id, old, "supersedes"), (new.id, other, "supersedes")]
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
        memory.write(lambda w: memories.save(w, PROJECT, Note("text", **{part: "nonsense"})))
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


# --- secrets ---


def test_no_write_path_keeps_a_secret(memory: Store) -> None:
    saved = memory.save(f"the token is {SECRET}", tags=(SECRET, f"t {SECRET}"))
    assert (saved.removed, "secret removed" in memory.get(saved.id).content) == (1, True)
    memory.save(f"the token is {SECRET}")
    new = Fields(content=f"now {SECRET}", tags=(SECRET,))
    memory.write(lambda w: memories.update(w, PROJECT, saved.id, new))
    with pytest.raises(UsageError):
        memory.save("text", project=SECRET)
    with pytest.raises(UsageError):
        memory.save("text", category=SECRET)
    for named in (SECRET, f"x {SECRET}"):
        with pytest.raises(GhostError):
            memory.save("text", supersedes=(named,))
    memory.recorder.sync_head()
    assert SECRET.encode() not in memory.on_disk()
    assert search(memory, SECRET) == []


# --- changing ---


def test_an_update_changes_what_is_given(memory: Store) -> None:
    before = memory.keep("the port is 8402", tags=("a",), importance=0.4)
    memory.clock.pass_seconds(5)
    after, changed = memory.write(
        lambda w: memories.update(w, PROJECT, before.id[:6], Fields(content="it is 9000"))
    )
    assert changed == ["content"]
    assert (after.content, after.tags, after.importance) == ("it is 9000", ("a",), 0.4)
    assert (after.created_at, after.seq) == (before.created_at, before.seq)
    assert after.updated_at > before.updated_at
    assert (search(memory, "8402"), search(memory, "9000")) == ([], [before.id])
    assert memory.changes()[-1]["reason"] == "content"


def test_a_changed_text_is_to_be_embedded_and_linked_again(memory: Store) -> None:
    kept = memory.save("the port is 8402").id

    def embed(writing: memories.Writing) -> None:
        values = {"id": kept, "now": writing.now, "data": b"\0\0\0\0"}
        writing.connection.execute(
            sa.text("INSERT INTO memory_embeddings VALUES (NULL, :id, :data, 'm', 1, :now)"), values
        )
        writing.connection.execute(
            sa.text("INSERT INTO link_scans VALUES (:id, 'm', :now)"), values
        )

    for fields, left in (
        (Fields(importance=0.1), 1),
        (Fields(tags=("x",)), 1),
        (Fields(content="y"), 0),
    ):
        if left:
            memory.rows("DELETE FROM memory_embeddings"), memory.rows("DELETE FROM link_scans")
            memory.write(embed)
        memory.write(lambda w, f=fields: memories.update(w, PROJECT, kept, f))
        assert memory.rows("SELECT count(*) FROM memory_embeddings") == [left]
        assert memory.rows("SELECT count(*) FROM link_scans") == [left]


def test_any_update_makes_a_resolved_memory_live(memory: Store) -> None:
    kept = memory.save("text").id
    memory.write(lambda w: memories.resolve(w, PROJECT, [kept]))
    memory.write(lambda w: memories.update(w, PROJECT, kept, Fields(importance=0.1)))
    assert memory.get(kept).resolved_at is None


def test_an_update_of_nothing_is_refused(memory: Store) -> None:
    kept = memory.save("text").id
    with pytest.raises(UsageError) as caught:
        memory.write(lambda w: memories.update(w, PROJECT, kept, Fields()))
    assert caught.value.code == "memory.update"


@pytest.mark.parametrize("act", ["update", "pin", "promote", "resolve", "delete"])
def test_only_the_project_that_owns_a_memory_changes_it(memory: Store, act: str) -> None:
    mine = memory.keep("text of mine")
    memory.save("text of others", project="other")
    acts = {
        "update": lambda w: memories.update(w, "other", mine.id, Fields(content="x")),
        "pin": lambda w: memories.pin(w, "other", mine.id, pinned=True),
        "promote": lambda w: memories.promote(w, "other", mine.id),
        "resolve": lambda w: memories.resolve(w, "other", [mine.id]),
        "delete": lambda w: memories.delete(w, "other", mine.id),
    }
    with pytest.raises(NotFoundError) as caught:
        memory.write(acts[act])
    assert caught.value.code == "memory.project"
    assert memory.get(mine.id) == mine


def test_a_pin_is_set_and_ended(memory: Store) -> None:
    kept = memory.keep("text")
    assert memory.write(lambda w: memories.pin(w, PROJECT, kept.id, pinned=True)).pinned
    assert memory.get(kept.id).updated_at == kept.updated_at
    assert not memory.write(lambda w: memories.pin(w, PROJECT, kept.id, pinned=False)).pinned


def test_promotion_keeps_id_links_and_pin_and_happens_once(memory: Store) -> None:
    one, two = memory.save("aa bb").id, memory.save("cc dd").id
    memory.write(lambda w: memories.pin(w, PROJECT, one, pinned=True))
    memory.write(lambda w: links.link(w, one, two, "causes", strength=1.0, source="manual"))
    moved = memory.write(lambda w: memories.promote(w, PROJECT, one))
    assert (moved.id, moved.project_id, moved.pinned) == (one, GLOBAL, True)
    assert link_rows(memory) == [(one, two, "causes")]
    with pytest.raises(UsageError) as caught:
        memory.write(lambda w: memories.promote(w, GLOBAL, one))
    assert caught.value.code == "memory.global"


def test_resolving_spares_what_is_pinned_or_a_rule(memory: Store) -> None:
    fact, pinned = memory.save("aa bb").id, memory.save("cc dd").id
    rule = memory.save("ee ff", category="convention").id
    memory.write(lambda w: memories.pin(w, PROJECT, pinned, pinned=True))
    ids = [fact, pinned, rule]
    assert memory.write(lambda w: memories.resolve(w, PROJECT, ids)) == [fact]
    assert memory.write(lambda w: memories.resolve(w, PROJECT, ids)) == []
    assert search(memory, "aa") == [fact]


def test_what_was_deleted_is_gone_with_its_links(memory: Store) -> None:
    one, two = memory.save("the port is 8402").id, memory.save("cc dd").id
    memory.write(lambda w: links.link(w, one, two, "causes", strength=1.0, source="manual"))
    memory.write(lambda w: memories.delete(w, PROJECT, one))
    assert (link_rows(memory), search(memory, "8402")) == ([], [])
    for act in (
        lambda w: memories.get(w.connection, one),
        lambda w: memories.delete(w, PROJECT, one),
    ):
        with pytest.raises(NotFoundError) as caught:
            memory.write(act)
        assert caught.value.code == "memory.unknown"
    assert memory.kinds()[-1] == "memory.deleted"


# --- reading ---


def test_a_list_is_ordered_paged_and_counted(memory: Store) -> None:
    made = [memory.save(f"x{n} y{n}", importance=n / 10).id for n in range(5)]
    tie = memory.save("tie breaker", importance=0.4).id
    found, total = memory.read(lambda c: memories.listing(c, PROJECT, limit=2, offset=0))
    assert ([each.id for each in found], total) == ([tie, made[4]], 6)
    rest, _ = memory.read(lambda c: memories.listing(c, PROJECT, limit=100, offset=2))
    assert [each.id for each in rest] == [made[3], made[2], made[1], made[0]]
    assert memory.read(lambda c: memories.listing(c, PROJECT, offset=10**30))[0] == []
    assert len(memory.read(lambda c: memories.listing(c, PROJECT, offset=-5))[0]) == 6


def test_a_list_of_a_category_brings_the_shared_ones(memory: Store) -> None:
    memory.save("mine", category="gotcha")
    memory.save("of all", project=GLOBAL, category="gotcha")
    memory.save("other", project="other", category="gotcha")
    found, total = memory.read(lambda c: memories.listing(c, PROJECT, category="gotcha"))
    assert ({each.content for each in found}, total) == ({"mine", "of all"}, 2)
    with pytest.raises(UsageError):
        memory.read(lambda c: memories.listing(c, PROJECT, category="nonsense"))


# --- whatever comes ---


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
        saved = memory.write(lambda w: memories.save(w, PROJECT, note))
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
        search(memory, kept.content)


@QUICK
@given(ANY, ANY, ANY, st.lists(ANY, max_size=3))
def test_any_change_is_made_or_refused(
    memory: Store, named: str, memory_id: str, content: str, tags: list[str]
) -> None:
    mine = memory.save("a text of mine").id
    fields = Fields(content=content, tags=tags)
    for act in (
        lambda w: memories.update(w, PROJECT, mine, fields),
        lambda w: memories.update(w, named, memory_id, fields),
        lambda w: memories.pin(w, named, memory_id, pinned=True),
        lambda w: memories.resolve(w, named, [memory_id]),
        lambda w: memories.promote(w, named, memory_id),
        lambda w: memories.delete(w, named, memory_id),
        lambda w: memories.delete(w, PROJECT, mine),
    ):
        try:
            memory.write(act)
        except GhostError as error:
            assert error.message.encode()


def test_after_all_this_the_index_is_that_of_the_rows(memory: Store) -> None:
    made = [memory.save(f"数据库 number{n} ﬁle", tags=(f"t{n}",)).id for n in range(6)]
    memory.write(lambda w: memories.update(w, PROJECT, made[0], Fields(content="x", tags=("y",))))
    memory.write(lambda w: memories.delete(w, PROJECT, made[1]))
    memory.write(lambda w: memories.promote(w, PROJECT, made[2]))
    memory.rows("INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)")
    assert search(memory, "据库") == made[2:]
    assert search(memory, "file") == made[2:]
