"""Changing, moving and deleting memories."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, NotFoundError, UsageError
from ghost_memory import changing, links, memories
from ghost_memory.changing import Fields
from ghost_memory.journal import Writing
from ghost_memory.values import GLOBAL
from support.memory import PROJECT, SECRET, Store

ANY = st.text(st.characters(), max_size=200)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


def test_an_update_changes_what_is_given(memory: Store) -> None:
    before = memory.keep("the port is 8402", tags=("a",), importance=0.4)
    memory.clock.pass_seconds(5)
    after, changed = memory.write(
        lambda w: changing.update(w, PROJECT, before.id[:6], Fields(content="it is 9000"))
    )
    assert changed == ["content"]
    assert (after.content, after.tags, after.importance) == ("it is 9000", ("a",), 0.4)
    assert (after.created_at, after.seq) == (before.created_at, before.seq)
    assert after.updated_at > before.updated_at
    assert (memory.found("8402"), memory.found("9000")) == ([], [before.id])
    assert memory.changes()[-1]["reason"] == "content"


def test_a_changed_text_is_to_be_embedded_and_linked_again(memory: Store) -> None:
    kept = memory.save("the port is 8402").id

    def embed(writing: Writing) -> None:
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
        memory.write(lambda w, f=fields: changing.update(w, PROJECT, kept, f))
        assert memory.rows("SELECT count(*) FROM memory_embeddings") == [left]
        assert memory.rows("SELECT count(*) FROM link_scans") == [left]


def test_any_update_makes_a_resolved_memory_live(memory: Store) -> None:
    kept = memory.save("text").id
    memory.write(lambda w: changing.resolve(w, PROJECT, [kept]))
    memory.write(lambda w: changing.update(w, PROJECT, kept, Fields(importance=0.1)))
    assert memory.get(kept).resolved_at is None


def test_an_update_of_nothing_is_refused(memory: Store) -> None:
    kept = memory.save("text").id
    with pytest.raises(UsageError) as caught:
        memory.write(lambda w: changing.update(w, PROJECT, kept, Fields()))
    assert caught.value.code == "memory.update"


def test_no_update_keeps_a_secret(memory: Store) -> None:
    kept = memory.save("the token is elsewhere").id
    new = Fields(content=f"now {SECRET}", tags=(SECRET,))
    changed, _ = memory.write(lambda w: changing.update(w, PROJECT, kept, new))
    assert "secret removed" in changed.content
    memory.recorder.sync_head()
    assert SECRET.encode() not in memory.on_disk()
    assert memory.found(SECRET) == []


@pytest.mark.parametrize("act", ["update", "pin", "promote", "resolve", "delete"])
def test_only_the_project_that_owns_a_memory_changes_it(memory: Store, act: str) -> None:
    mine = memory.keep("text of mine")
    memory.save("text of others", project="other")
    acts = {
        "update": lambda w: changing.update(w, "other", mine.id, Fields(content="x")),
        "pin": lambda w: changing.pin(w, "other", mine.id, pinned=True),
        "promote": lambda w: changing.promote(w, "other", mine.id),
        "resolve": lambda w: changing.resolve(w, "other", [mine.id]),
        "delete": lambda w: changing.delete(w, "other", mine.id),
    }
    with pytest.raises(NotFoundError) as caught:
        memory.write(acts[act])
    assert caught.value.code == "memory.project"
    assert memory.get(mine.id) == mine


def test_a_pin_is_set_and_ended(memory: Store) -> None:
    kept = memory.keep("text")
    assert memory.write(lambda w: changing.pin(w, PROJECT, kept.id, pinned=True)).pinned
    assert memory.get(kept.id).updated_at == kept.updated_at
    assert not memory.write(lambda w: changing.pin(w, PROJECT, kept.id, pinned=False)).pinned


def test_promotion_keeps_id_links_and_pin_and_happens_once(memory: Store) -> None:
    one, two = memory.save("aa bb").id, memory.save("cc dd").id
    memory.write(lambda w: changing.pin(w, PROJECT, one, pinned=True))
    memory.write(lambda w: links.link(w, one, two, "causes", strength=1.0, source="manual"))
    moved = memory.write(lambda w: changing.promote(w, PROJECT, one))
    assert (moved.id, moved.project_id, moved.pinned) == (one, GLOBAL, True)
    assert memory.links() == [(one, two, "causes")]
    with pytest.raises(UsageError) as caught:
        memory.write(lambda w: changing.promote(w, GLOBAL, one))
    assert caught.value.code == "memory.global"


def test_resolving_spares_what_is_pinned_or_a_rule(memory: Store) -> None:
    fact, pinned = memory.save("aa bb").id, memory.save("cc dd").id
    rule = memory.save("ee ff", category="convention").id
    memory.write(lambda w: changing.pin(w, PROJECT, pinned, pinned=True))
    ids = [fact, pinned, rule]
    assert memory.write(lambda w: changing.resolve(w, PROJECT, ids)) == [fact]
    assert memory.write(lambda w: changing.resolve(w, PROJECT, ids)) == []
    assert memory.found("aa") == [fact]


def test_what_was_deleted_is_gone_with_its_links(memory: Store) -> None:
    one, two = memory.save("the port is 8402").id, memory.save("cc dd").id
    memory.write(lambda w: links.link(w, one, two, "causes", strength=1.0, source="manual"))
    memory.write(lambda w: changing.delete(w, PROJECT, one))
    assert (memory.links(), memory.found("8402")) == ([], [])
    for act in (
        lambda w: memories.get(w.connection, one),
        lambda w: changing.delete(w, PROJECT, one),
    ):
        with pytest.raises(NotFoundError) as caught:
            memory.write(act)
        assert caught.value.code == "memory.unknown"
    assert memory.kinds()[-1] == "memory.deleted"


@QUICK
@given(ANY, ANY, ANY, st.lists(ANY, max_size=3))
def test_any_change_is_made_or_refused(
    memory: Store, named: str, memory_id: str, content: str, tags: list[str]
) -> None:
    mine = memory.save("a text of mine").id
    fields = Fields(content=content, tags=tags)
    for act in (
        lambda w: changing.update(w, PROJECT, mine, fields),
        lambda w: changing.update(w, named, memory_id, fields),
        lambda w: changing.pin(w, named, memory_id, pinned=True),
        lambda w: changing.resolve(w, named, [memory_id]),
        lambda w: changing.promote(w, named, memory_id),
        lambda w: changing.delete(w, named, memory_id),
        lambda w: changing.delete(w, PROJECT, mine),
    ):
        try:
            memory.write(act)
        except GhostError as error:
            assert error.message.encode()


def test_after_all_this_the_index_is_that_of_the_rows(memory: Store) -> None:
    made = [memory.save(f"数据库 number{n} ﬁle", tags=(f"t{n}",)).id for n in range(6)]
    memory.write(lambda w: changing.update(w, PROJECT, made[0], Fields(content="x", tags=("y",))))
    memory.write(lambda w: changing.delete(w, PROJECT, made[1]))
    memory.write(lambda w: changing.promote(w, PROJECT, made[2]))
    memory.rows("INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)")
    assert memory.found("据库") == made[2:]
    assert memory.found("file") == made[2:]
