"""Saving, changing and deleting memories."""

from __future__ import annotations

from support.memory import Store


def test_a_saved_text_is_there_with_its_entry(memory: Store) -> None:
    kept = memory.keep("the port is 8402", tags=("network",))
    assert (kept.content, kept.project_id, kept.tags) == ("the port is 8402", "app", ("network",))
    assert memory.kinds() == ["project.created", "memory.saved"]
