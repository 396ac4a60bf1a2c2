"""Tasks and decisions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, NotFoundError, UsageError
from ghost_memory import changing, work
from ghost_memory.limits import ALTERNATIVES, TITLE_BYTES
from ghost_memory.values import Recorded, Task
from support.memory import PROJECT, Store

ANY = st.text(st.characters(), max_size=100)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"


@pytest.fixture(autouse=True)
def _project(memory: Store) -> None:
    memory.save("a first memory makes the project")


def create(memory: Store, title: str, **parts: Any) -> Task:
    return memory.write(lambda w: work.create_task(w, PROJECT, title, **parts))


def update(memory: Store, task: Task, **parts: Any) -> Task:
    return memory.write(lambda w: work.update_task(w, task.id, **parts))


def record(memory: Store, title: str = "port", decision: str = "8402", **parts: Any) -> Recorded:
    parts = {"rationale": "it is free", **parts}
    return memory.write(
        lambda w: work.record_decision(w, PROJECT, title=title, decision=decision, **parts)
    )


# --- tasks ---


def test_a_new_task_is_pending(memory: Store) -> None:
    made = create(memory, " write a test ", description="of this", priority=1)
    assert (made.title, made.description, made.status) == ("write a test", "of this", "pending")
    assert (made.priority, made.notes, made.completed_at) == (1, "", None)


@pytest.mark.parametrize("act", [work.create_task, work.record_decision])
def test_neither_makes_a_project(memory: Store, act: Any) -> None:
    parts = (
        {"title": "t"}
        if act is work.create_task
        else {"title": "t", "decision": "d", "rationale": "r"}
    )
    with pytest.raises(NotFoundError) as caught:
        memory.write(lambda w: act(w, "unknown", **parts))
    assert caught.value.code == "project.unknown"
    assert memory.rows("SELECT id FROM projects") == [PROJECT]


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
    done = memory.write(lambda w: work.complete_task(w, made.id[:8], notes=" second "))
    assert (done.status, done.notes) == ("done", "first\nsecond")
    assert memory.write(lambda w: work.complete_task(w, made.id)).notes == "first\nsecond"


def test_an_unknown_status_and_an_empty_update_are_refused(memory: Store) -> None:
    made = create(memory, "t")
    with pytest.raises(UsageError) as caught:
        update(memory, made, status="finished")
    assert "pending, active, done, blocked" in caught.value.message
    with pytest.raises(UsageError) as caught:
        update(memory, made)
    assert caught.value.code == "task.update"
    with pytest.raises(UsageError):
        memory.read(lambda c: work.tasks(c, PROJECT, statuses=["finished"]))


def test_tasks_are_listed_urgent_first_then_newest(memory: Store) -> None:
    late, early = create(memory, "a", priority=3), create(memory, "b", priority=0)
    newer = create(memory, "c", priority=3)
    done = create(memory, "d", priority=4)
    update(memory, done, status="done")
    found, total = memory.read(lambda c: work.tasks(c, PROJECT))
    assert ([each.id for each in found], total) == ([early.id, newer.id, late.id, done.id], 4)
    open_, total = memory.read(
        lambda c: work.tasks(c, PROJECT, statuses=["pending"], limit=1, offset=1)
    )
    assert ([each.id for each in open_], total) == ([newer.id], 3)
    assert memory.read(lambda c: work.tasks(c, PROJECT, offset=10**30))[0] == []


@pytest.mark.parametrize("task_id", ["0000", "abc", ""])
def test_an_unknown_task_is_not_found(memory: Store, task_id: str) -> None:
    with pytest.raises(GhostError):
        memory.write(lambda w: work.update_task(w, task_id, status="done"))


def test_titles_are_cut_and_needed(memory: Store) -> None:
    assert len(create(memory, "é" * 500).title.encode()) == TITLE_BYTES
    with pytest.raises(UsageError) as caught:
        create(memory, "  ")
    assert caught.value.code == "memory.title"


# --- decisions ---


def test_a_decision_comes_with_a_memory_that_speaks_of_it(memory: Store) -> None:
    made = record(memory, alternatives=["9000", " 80 "], tags=["net"])
    kept = memory.get(made.memory_id)
    assert made.decision_id != made.memory_id
    assert kept.content == "port: 8402. Rationale: it is free"
    assert (kept.category, kept.source, kept.importance, kept.tags) == (
        "decision",
        "decision_log",
        0.9,
        ("net",),
    )
    found = memory.read(lambda c: work.decision(c, made.decision_id[:8]))
    assert (found.title, found.decision, found.rationale) == ("port", "8402", "it is free")
    assert (found.alternatives, found.tags, found.status) == (("9000", "80"), ("net",), "active")
    assert found.memory_id == made.memory_id


def test_both_are_written_or_neither(memory: Store) -> None:
    before = memory.rows("SELECT count(*) FROM memories"), memory.kinds()
    with pytest.raises(UsageError):
        record(memory, rationale=" ")

    def fail(writing: Any) -> None:
        work.record_decision(writing, PROJECT, title="t", decision="d", rationale="r")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        memory.write(fail)
    assert (memory.rows("SELECT count(*) FROM memories"), memory.kinds()) == before
    assert memory.rows("SELECT count(*) FROM decisions") == [0]


def test_a_decision_that_replaces_one_links_the_memories_of_both(memory: Store) -> None:
    old = record(memory)
    new = record(memory, "port again", "9000 it is now", supersedes=old.decision_id[:8])
    assert new.warning == ""
    before = memory.read(lambda c: work.decision(c, old.decision_id))
    assert (before.status, before.superseded_by) == ("superseded", new.decision_id)
    assert memory.rows(
        "SELECT source_id, target_id FROM memory_links WHERE relation = 'supersedes'"
    ) == [(new.memory_id, old.memory_id)]
    assert memory.kinds()[-3:] == ["decision.recorded", "decision.superseded", "link.supersedes"]


@pytest.mark.parametrize("older", ["0000", "no", "\ud800\0", SECRET])
def test_what_cannot_be_replaced_is_a_warning(memory: Store, older: str) -> None:
    made = record(memory, supersedes=older)
    assert made.warning
    assert SECRET not in made.warning
    assert memory.read(lambda c: work.decision(c, made.decision_id)).status == "active"


def test_a_decision_of_another_project_is_not_replaced(memory: Store) -> None:
    memory.save("text", project="other")
    old = memory.write(
        lambda w: work.record_decision(w, "other", title="t", decision="d", rationale="r")
    )
    assert "is not of project" in record(memory, supersedes=old.decision_id).warning
    assert memory.read(lambda c: work.decision(c, old.decision_id)).status == "active"


def test_the_newest_make_the_page_and_the_superseded_sink_in_it(memory: Store) -> None:
    first = record(memory, "one", "aa")
    second = record(memory, "two", "bb", supersedes=first.decision_id)
    third = record(memory, "three", "cc")
    fourth = record(memory, "four", "dd", supersedes=third.decision_id)
    page, total = memory.read(lambda c: work.decisions(c, PROJECT, limit=3))
    assert ([each.title for each in page], total) == (["four", "two", "three"], 4)
    active, total = memory.read(lambda c: work.decisions(c, PROJECT, status="active"))
    assert ({each.id for each in active}, total) == ({second.decision_id, fourth.decision_id}, 2)
    with pytest.raises(UsageError):
        memory.read(lambda c: work.decisions(c, PROJECT, status="nonsense"))


def test_a_deleted_companion_leaves_the_decision(memory: Store) -> None:
    made = record(memory)
    memory.write(lambda w: changing.delete(w, PROJECT, made.memory_id))
    assert memory.read(lambda c: work.decision(c, made.decision_id)).memory_id is None
    assert record(memory, "new", "9000", supersedes=made.decision_id).warning == ""


def test_alternatives_and_tags_are_few(memory: Store) -> None:
    made = record(memory, alternatives=["x" * 500] * 50, tags=[str(n) for n in range(50)])
    found = memory.read(lambda c: work.decision(c, made.decision_id))
    assert len(found.alternatives) == ALTERNATIVES
    assert {len(each) for each in found.alternatives} == {TITLE_BYTES}
    assert len(found.tags) == 10


# --- secrets, and whatever comes ---


def test_no_part_of_either_keeps_a_secret(memory: Store) -> None:
    text = f"use {SECRET}"
    task = create(memory, text, description=text)
    update(memory, task, description=text, notes=text)
    memory.write(lambda w: work.complete_task(w, task.id, notes=text))
    made = record(memory, text, text, rationale=text, alternatives=[text], tags=[SECRET])
    assert made.removed >= 1
    memory.recorder.sync_head()
    assert SECRET.encode() not in memory.on_disk()
    assert b"secret removed" in memory.on_disk()


@QUICK
@given(ANY, ANY, ANY, st.lists(ANY, max_size=3), st.lists(ANY, max_size=3), st.integers())
def test_any_text_is_kept_or_refused(  # noqa: PLR0917  # one for each part
    memory: Store, one: str, two: str, three: str, more: list[str], tags: list[str], number: int
) -> None:
    for act in (
        lambda w: work.create_task(w, PROJECT, one, description=two, priority=number),
        lambda w: work.create_task(w, one, two),
        lambda w: work.update_task(w, one, status=two),
        lambda w: work.complete_task(w, one, notes=two),
        lambda w: work.record_decision(
            w,
            PROJECT,
            title=one,
            decision=two,
            rationale=three,
            alternatives=more,
            tags=tags,
            supersedes=one,
        ),
        lambda w: work.tasks(w.connection, one, limit=number, offset=number),
        lambda w: work.decisions(w.connection, one, limit=number, offset=number),
    ):
        try:
            memory.write(act)
        except GhostError as error:
            assert error.message
