"""Decisions, and the memory that comes with each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, NotFoundError, UsageError
from ghost_memory import changing, decisions
from ghost_memory.limits import ALTERNATIVES, TITLE_BYTES
from ghost_memory.values import Recorded
from support.memory import PROJECT, SECRET, Store

ANY = st.text(st.characters(), max_size=100)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


@pytest.fixture(autouse=True)
def _project(memory: Store) -> None:
    memory.save("a first memory makes the project")


def record(memory: Store, title: str = "port", decision: str = "8402", **parts: Any) -> Recorded:
    parts = {"rationale": "it is free", **parts}
    return memory.write(
        lambda w: decisions.record(w, PROJECT, title=title, decision=decision, **parts)
    )


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
    found = memory.read(lambda c: decisions.get(c, made.decision_id[:8]))
    assert (found.title, found.decision, found.rationale) == ("port", "8402", "it is free")
    assert (found.alternatives, found.tags, found.status) == (("9000", "80"), ("net",), "active")
    assert found.memory_id == made.memory_id


def test_both_are_written_or_neither(memory: Store) -> None:
    before = memory.rows("SELECT count(*) FROM memories"), memory.kinds()
    with pytest.raises(UsageError):
        record(memory, rationale=" ")

    def fail(writing: Any) -> None:
        decisions.record(writing, PROJECT, title="t", decision="d", rationale="r")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        memory.write(fail)
    assert (memory.rows("SELECT count(*) FROM memories"), memory.kinds()) == before
    assert memory.rows("SELECT count(*) FROM decisions") == [0]


def test_a_decision_that_replaces_one_links_the_memories_of_both(memory: Store) -> None:
    old = record(memory)
    new = record(memory, "port again", "9000 it is now", supersedes=old.decision_id[:8])
    assert new.warning == ""
    before = memory.read(lambda c: decisions.get(c, old.decision_id))
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
    assert memory.read(lambda c: decisions.get(c, made.decision_id)).status == "active"


def test_a_decision_of_another_project_is_not_replaced(memory: Store) -> None:
    memory.save("text", project="other")
    old = memory.write(
        lambda w: decisions.record(w, "other", title="t", decision="d", rationale="r")
    )
    assert "is not of project" in record(memory, supersedes=old.decision_id).warning
    assert memory.read(lambda c: decisions.get(c, old.decision_id)).status == "active"


def test_the_newest_make_the_page_and_the_superseded_sink_in_it(memory: Store) -> None:
    first = record(memory, "one", "aa")
    second = record(memory, "two", "bb", supersedes=first.decision_id)
    third = record(memory, "three", "cc")
    fourth = record(memory, "four", "dd", supersedes=third.decision_id)
    page, total = memory.read(lambda c: decisions.listing(c, PROJECT, limit=3))
    assert ([each.title for each in page], total) == (["four", "two", "three"], 4)
    active, total = memory.read(lambda c: decisions.listing(c, PROJECT, status="active"))
    assert ({each.id for each in active}, total) == ({second.decision_id, fourth.decision_id}, 2)
    with pytest.raises(UsageError):
        memory.read(lambda c: decisions.listing(c, PROJECT, status="nonsense"))


def test_a_deleted_companion_leaves_the_decision(memory: Store) -> None:
    made = record(memory)
    memory.write(lambda w: changing.delete(w, PROJECT, made.memory_id))
    assert memory.read(lambda c: decisions.get(c, made.decision_id)).memory_id is None
    assert record(memory, "new", "9000", supersedes=made.decision_id).warning == ""


def test_alternatives_and_tags_are_few(memory: Store) -> None:
    made = record(memory, alternatives=["x" * 500] * 50, tags=[str(n) for n in range(50)])
    found = memory.read(lambda c: decisions.get(c, made.decision_id))
    assert len(found.alternatives) == ALTERNATIVES
    assert {len(each) for each in found.alternatives} == {TITLE_BYTES}
    assert len(found.tags) == 10


def test_a_decision_makes_no_project(memory: Store) -> None:
    parts = {"title": "t", "decision": "d", "rationale": "r"}
    with pytest.raises(NotFoundError) as caught:
        memory.write(lambda w: decisions.record(w, "unknown", **parts))
    assert caught.value.code == "project.unknown"
    assert memory.rows("SELECT id FROM projects") == [PROJECT]


def test_no_part_of_a_decision_keeps_a_secret(memory: Store) -> None:
    text = f"use {SECRET}"
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
        lambda w: decisions.record(
            w,
            PROJECT,
            title=one,
            decision=two,
            rationale=three,
            alternatives=more,
            tags=tags,
            supersedes=one,
        ),
        lambda w: decisions.listing(w.connection, one, limit=number, offset=number),
    ):
        try:
            memory.write(act)
        except GhostError as error:
            assert error.message
