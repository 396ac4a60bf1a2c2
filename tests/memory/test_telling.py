"""What the entries say of each memory."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ghost_memory import belongings, changing, decisions, projects, tasks
from ghost_memory.changing import Fields
from ghost_memory.entered import Entered, entered
from ghost_memory.telling import Told, told
from support.memory import Store


def heard(memory: Store) -> Mapping[str, Told]:
    return memory.read(lambda connection: told(entered(connection)))


def test_a_memory_is_told_as_it_is(memory: Store) -> None:
    saved = memory.keep("the port is 8402")
    here = heard(memory)[saved.id]
    assert (here.exists, here.project, here.pinned, here.resolved) == (True, "app", False, False)
    first = here.content
    memory.write(lambda w: changing.update(w, "app", saved.id, Fields(content="it is 9000")))
    memory.write(lambda w: changing.pin(w, "app", saved.id, pinned=True))
    assert heard(memory)[saved.id].content != first
    assert heard(memory)[saved.id].pinned is True
    memory.write(lambda w: changing.pin(w, "app", saved.id, pinned=False))
    memory.write(lambda w: changing.resolve(w, "app", [saved.id]))
    assert (heard(memory)[saved.id].pinned, heard(memory)[saved.id].resolved) == (False, True)
    memory.write(lambda w: changing.promote(w, "app", saved.id))
    assert heard(memory)[saved.id].project == "_global"
    memory.write(lambda w: changing.delete(w, "_global", saved.id))
    assert not heard(memory)[saved.id].exists


@pytest.mark.parametrize(
    "again", ["the port is 8402", "the port is 8402 now", None], ids=["same", "twin", "update"]
)
def test_what_is_said_again_holds_again(memory: Store, again: str | None) -> None:
    saved = memory.keep("the port is 8402")
    memory.write(lambda w: changing.resolve(w, "app", [saved.id]))
    if again is None:
        memory.write(lambda w: changing.update(w, "app", saved.id, Fields(importance=0.1)))
    else:
        memory.save(again)
    assert memory.get(saved.id).resolved_at is None
    assert heard(memory)[saved.id].resolved is False


def test_what_happens_to_a_project_happens_to_its_memories(memory: Store) -> None:
    saved, other = memory.keep("the port is 8402", "old"), memory.keep("text", "other")
    memory.save("text", "new")
    memory.write(lambda w: belongings.merge(w, "old", "new"))
    assert heard(memory)[saved.id].project == "new"
    memory.write(lambda w: belongings.delete(w, "new"))
    assert not heard(memory)[saved.id].exists
    assert heard(memory)[other.id].exists


def test_what_came_with_a_file_is_not_told() -> None:
    change = Entered(7, "e", "s", "t", True, "abcd", "memory.imported", "app", content="c" * 64)
    found = told([change])["abcd"]
    assert (found.exists, found.place, found.pinned, found.resolved) == (True, 7, None, None)


@pytest.mark.parametrize(
    ("change", "readable"), [("memory.distilled", True), ("memory.pinned", False)]
)
def test_what_is_not_known_here_is_said_to_be(change: str, readable: bool) -> None:
    made = Entered(1, "e", "s", "t", True, "abcd", "memory.saved", "app", content="c" * 64)
    later = Entered(2, "e", "s", "t", readable, "abcd", change)
    assert told([made])["abcd"].readable
    assert not told([made, later])["abcd"].readable


def test_decisions_and_tasks_are_no_memories(memory: Store) -> None:
    memory.write(lambda w: projects.ensure(w, "app"))
    memory.write(lambda w: tasks.create(w, "app", "deploy"))
    made = memory.write(
        lambda w: decisions.record(w, "app", title="db", decision="SQLite", rationale="one")
    )
    assert list(heard(memory)) == [made.memory_id]
