from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from ghost_core import db
from ghost_core.errors import GhostError
from ghost_memory import belongings, changing, decisions, links, projects, saving, tasks
from ghost_memory.journal import Writing
from ghost_memory.server.watch import Watch
from ghost_memory.values import GLOBAL
from support.memory import Store

SHARED = "ghost://memories/global"


def of(project: str, *kinds: str) -> set[str]:
    return {f"ghost://project/{project}/{kind}" for kind in kinds}


@pytest.fixture
def watch(memory: Store) -> Iterator[Watch]:
    """Watch a memory in which each of two projects holds something."""
    memory.save("what is mine", "mine")
    memory.save("what is theirs", "theirs")
    memory.clock.pass_seconds(1)
    made = Watch(lambda: memory.journal.engine, memory.clock.now_us())
    yield made
    made.close()


def test_what_was_there_before_is_not_told(watch: Watch) -> None:
    assert watch.stale() == []


def test_a_change_is_told_once(watch: Watch, memory: Store) -> None:
    memory.save("x", "mine")
    assert set(watch.stale()) == of("mine", "context")
    assert watch.stale() == []


def task(writing: Writing) -> None:
    tasks.create(writing, "mine", "t")


def decision(writing: Writing) -> None:
    decisions.record(writing, "mine", title="t", decision="d", rationale="r")


def everyone(writing: Writing) -> None:
    saving.save(writing, GLOBAL, saving.Note("be brief"))


ALL = ("context", "decisions", "tasks")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (task, of("mine", "context", "tasks")),
        (decision, of("mine", "context", "decisions")),
        (
            everyone,
            {SHARED} | of("mine", "context") | of("theirs", "context") | of(GLOBAL, "context"),
        ),
        (lambda w: belongings.delete(w, "mine"), of("mine", *ALL)),
        (lambda w: belongings.merge(w, "mine", "theirs"), of("mine", *ALL) | of("theirs", *ALL)),
        (lambda w: projects.ensure(w, "new"), of("new", *ALL)),
    ],
    ids=["task", "decision", "shared", "deleted", "merged", "created"],
)
def test_each_kind_of_change_makes_its_own_resources_stale(
    watch: Watch, memory: Store, change: Callable[[Writing], object], told: set[str]
) -> None:
    memory.write(change)
    assert set(watch.stale()) - of(GLOBAL, "context") == told - of(GLOBAL, "context")


def test_a_promoted_memory_is_stale_where_it_was_and_everywhere(
    watch: Watch, memory: Store
) -> None:
    saved = memory.save("x", "mine").id
    watch.stale()
    memory.write(lambda w: changing.promote(w, "mine", saved))
    assert set(watch.stale()) >= {SHARED, *of("mine", "context"), *of("theirs", "context")}


def test_an_edge_is_told_for_the_project_of_its_ends(watch: Watch, memory: Store) -> None:
    one, two = memory.save("one thing", "mine").id, memory.save("something else", "mine").id
    watch.stale()
    memory.write(lambda w: links.link(w, two, one, "supersedes", strength=1.0, source="manual"))
    assert set(watch.stale()) == of("mine", "context")


def test_a_project_that_is_gone_is_told_under_the_name_it_had(watch: Watch, memory: Store) -> None:
    memory.write(
        lambda w: w.connection.exec_driver_sql("UPDATE projects SET name = 'My' WHERE id = 'mine'")
    )
    watch.stale()
    memory.write(lambda w: belongings.delete(w, "mine"))
    assert set(watch.stale()) == of("mine", *ALL) | of("My", *ALL)


def test_a_change_before_the_first_look_is_told(watch: Watch, memory: Store) -> None:
    memory.save("x", "mine")
    memory.clock.pass_seconds(1)
    memory.save("y", "theirs")
    assert set(watch.stale()) == of("mine", "context") | of("theirs", "context")


def test_after_a_break_it_goes_on_where_it_was(watch: Watch, memory: Store) -> None:
    watch.stale()
    watch.close()
    memory.save("x", "mine")
    assert set(watch.stale()) == of("mine", "context")


def test_after_a_failure_it_goes_on_where_it_was(watch: Watch, memory: Store) -> None:
    assert watch.stale() == []
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text("ALTER TABLE projects RENAME TO away"))
    with pytest.raises(GhostError):
        watch.stale()
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text("ALTER TABLE away RENAME TO projects"))
    memory.save("x", "mine")
    assert set(watch.stale()) == of("mine", "context")
