from __future__ import annotations

from ghost_core.settings_models import MemorySettings
from ghost_memory.asking import Query
from ghost_memory.server.parts import plug
from ghost_memory.values import GLOBAL, Project
from support.memory import Store

NOW = "2026-12-01T00:00:00.000000Z"


def test_search_and_context_are_those_of_memory(memory: Store) -> None:
    parts, saved = plug(MemorySettings()), memory.save("the port is 8402")
    found = memory.read(lambda c: parts.search(c, Query("port", "app"), now=NOW))
    assert [hit.memory.id for hit in found.hits] == [saved.id]
    shown = memory.read(
        lambda c: parts.context(c, Project("app", "app", "app", None), limit=5, now=NOW)
    )
    assert "«the port is 8402»" in shown.text


def test_what_all_share_is_a_list_of_its_own(memory: Store) -> None:
    parts = plug(MemorySettings())
    place = Project(GLOBAL, GLOBAL, GLOBAL, None)
    assert memory.read(lambda c: parts.context(c, place, limit=5, now=NOW)).empty
    for number in range(20):
        memory.save(f"rule {number} of all", GLOBAL)
    shown = memory.read(lambda c: parts.context(c, place, limit=5, now=NOW))
    assert (shown.shown, shown.total) == (15, 20)
    assert shown.text.startswith("## Global (applies to all projects)\n- [fact]")
