"""Tasks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, NotFoundError, UsageError
from ghost_memory import tasks
from ghost_memory.limits import TITLE_BYTES
from ghost_memory.values import Task
from support.memory import PROJECT, SECRET, Store

ANY = st.text(st.characters(), max_size=100)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


@pytest.fixture(autouse=True)
def _project(memory: Store) -> None:
    memory.save("a first memory makes the project")


def create(memory: Store, title: str, **parts: Any) -> Task:
    return memory.write(lambda w: tasks.create(w, PROJECT, title, **parts))


def update(memory: Store, task: Task, **parts: Any) -> Task:
    return memory.write(lambda w: tasks.update(w, task.id, **parts))


def test_a_new_task_is_pending(memory: Store) -> None:
    made = create(memory, " write a test ", description="of this", priority=1)
    assert (made.title, made.description, made.status) == ("write a test", "of this", "pending")
    assert (made.priority, made.notes, made.completed_at) == (1, "", None)


@pytest.mark.parametrize(("given_", "kept"), [(-1, 2), (5, 2), (0, 0), (4, 4), (10**30, 2)])
def test_a_priority_out_of_range_is_2(memory: Store, given_: int, kept: int) -> None:
    made = create(memory, "t", priority=given_)
    assert made.priority == kept
    assert update(memory, made, priority=given_).priority == kept


def test_the_time_of_completion_follows_the_status(memory: Store) -> None:
    made = create(memory, "t")
    memory.clock.pass_seconds(5)
    done = update(memory, made, status="done")
    assert done.completed_at == memory.journal.now() == done.updated_at
    memory.clock.pass_seconds(5)
    assert update(memory, made, status="done").completed_at == done.completed_at
    assert update(memory, made, priority=0).completed_at == done.completed_at
    assert update(memory, made, status="active").completed_at is None


def test_completing_adds_notes_and_wipes_none(memory: Store) -> None:
    made = create(memory, "t")
    update(memory, made, notes="first")
    done = memory.write(lambda w: tasks.complete(w, made.id[:8], notes=" second "))
    assert (done.status, done.notes) == ("done", "first\nsecond")
    assert memory.write(lambda w: tasks.complete(w, made.id)).notes == "first\nsecond"


def test_an_unknown_status_and_an_empty_update_are_refused(memory: Store) -> None:
    made = create(memory, "t")
    with pytest.raises(UsageError) as caught:
        update(memory, made, status="finished")
    assert "pending, active, done, blocked" in caught.value.message
    with pytest.raises(UsageError) as caught:
        update(memory, made)
    assert caught.value.code == "task.update"
    with pytest.raises(UsageError):
        memory.read(lambda c: tasks.listing(c, PROJECT, statuses=["finished"]))


def test_tasks_are_listed_urgent_first_then_newest(memory: Store) -> None:
    late, early = create(memory, "a", priority=3), create(memory, "b", priority=0)
    newer = create(memory, "c", priority=3)
    done = create(memory, "d", priority=4)
    update(memory, done, status="done")
    found, total = memory.read(lambda c: tasks.listing(c, PROJECT))
    assert ([each.id for each in found], total) == ([early.id, newer.id, late.id, done.id], 4)
    open_, total = memory.read(
        lambda c: tasks.listing(c, PROJECT, statuses=["pending"], limit=1, offset=1)
    )
    assert ([each.id for each in open_], total) == ([newer.id], 3)
    assert memory.read(lambda c: tasks.listing(c, PROJECT, offset=10**30))[0] == []


@pytest.mark.parametrize("task_id", ["0000", "abc", ""])
def test_an_unknown_task_is_not_found(memory: Store, task_id: str) -> None:
    with pytest.raises(GhostError):
        memory.write(lambda w: tasks.update(w, task_id, status="done"))


def test_titles_are_cut_and_needed(memory: Store) -> None:
    assert len(create(memory, "é" * 500).title.encode()) == TITLE_BYTES
    with pytest.raises(UsageError) as caught:
        create(memory, "  ")
    assert caught.value.code == "memory.title"


def test_a_task_makes_no_project(memory: Store) -> None:
    with pytest.raises(NotFoundError) as caught:
        memory.write(lambda w: tasks.create(w, "unknown", "t"))
    assert caught.value.code == "project.unknown"
    assert memory.rows("SELECT id FROM projects") == [PROJECT]


def test_no_part_of_a_task_keeps_a_secret(memory: Store) -> None:
    text = f"use {SECRET}"
    task = create(memory, text, description=text)
    update(memory, task, description=text, notes=text)
    memory.write(lambda w: tasks.complete(w, task.id, notes=text))
    memory.recorder.sync_head()
    assert SECRET.encode() not in memory.on_disk()
    assert b"secret removed" in memory.on_disk()


@QUICK
@given(ANY, ANY, st.integers())
def test_any_text_is_kept_or_refused(memory: Store, one: str, two: str, number: int) -> None:
    for act in (
        lambda w: tasks.create(w, PROJECT, one, description=two, priority=number),
        lambda w: tasks.create(w, one, two),
        lambda w: tasks.update(w, one, status=two),
        lambda w: tasks.complete(w, one, notes=two),
        lambda w: tasks.listing(w.connection, one, limit=number, offset=number),
    ):
        try:
            memory.write(act)
        except GhostError as error:
            assert error.message
