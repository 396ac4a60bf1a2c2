"""What happened to a memory."""

from __future__ import annotations

import pytest

from ghost_core.errors import NotFoundError, UsageError
from ghost_memory import changing, history, projects
from ghost_memory.changing import Fields
from ghost_memory.journal import Change
from support.memory import Store


def test_a_memory_has_its_changes_also_when_it_is_gone(memory: Store) -> None:
    saved, other = memory.keep("the port is 8402"), memory.keep("answers are short")
    memory.write(lambda w: changing.update(w, "app", saved.id, Fields(importance=0.1)))
    memory.write(lambda w: changing.delete(w, "app", saved.id))
    name, found = memory.read(lambda c: history.of(c, saved.id[:8].upper()))
    assert name == saved.id
    assert [each.change for each in found] == ["memory.saved", "memory.updated", "memory.deleted"]
    assert [each.reason for each in found] == ["", "importance", ""]
    assert memory.read(lambda c: history.of(c, other.id))[0] == other.id


def test_a_link_is_a_change_of_both_its_ends(memory: Store) -> None:
    old = memory.keep("the port is 8402")
    new = memory.save("we moved to 9000", supersedes=(old.id,))
    for end in (old.id, new.id):
        _, found = memory.read(lambda c, end=end: history.of(c, end))
        assert found[-1].change == "link.supersedes"


@pytest.mark.parametrize("beginning", ["", "abc", "a b c d", "%%%%", "\0\0\0\0", "ä" * 9])
def test_what_is_no_beginning_of_an_id_is_refused(memory: Store, beginning: str) -> None:
    with pytest.raises(UsageError):
        memory.read(lambda c: history.of(c, beginning))


def test_one_that_was_never_there_is_not_found(memory: Store) -> None:
    memory.save("the port is 8402")
    with pytest.raises(NotFoundError):
        memory.read(lambda c: history.of(c, "0" * 32))
    with pytest.raises(NotFoundError):  # a project, not a memory
        memory.write(lambda w: projects.ensure(w, "abcd"))
        memory.read(lambda c: history.of(c, "abcd"))


def test_several_are_never_guessed(memory: Store) -> None:
    for name in ("abcd1", "abcd2"):
        memory.write(lambda w, name=name: w.report(Change(name, "memory.saved", "app", "text")))
    with pytest.raises(UsageError, match="several"):
        memory.read(lambda c: history.of(c, "abcd"))
    assert memory.read(lambda c: history.of(c, "abcd1"))[0] == "abcd1"


def test_the_newest_changes_come_first_with_their_number(memory: Store) -> None:
    for number in range(4):
        memory.save(f"note {number}", f"project {number}")
    found, total = memory.read(lambda c: history.latest(c, 3))
    assert [each.change for each in found] == ["memory.saved", "project.created", "memory.saved"]
    assert total == 8
