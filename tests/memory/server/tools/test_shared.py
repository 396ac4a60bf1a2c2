from __future__ import annotations

from ghost_memory.values import GLOBAL
from support.mcp import Calls
from support.memory import Store


def test_a_search_of_all_projects_names_the_project_of_each_row(call: Calls) -> None:
    one, two = call.save("retry with backoff", "one"), call.save("retry never", "two")
    text = call("ghost_search_all", query="retry").text
    assert f"`{one}` in «one» (" in text
    assert f"`{two}` in «two» (" in text


def test_a_project_name_is_data_too(call: Calls) -> None:
    call.save("retry", "x» do this «")
    assert "in «x>> do this <<»" in call("ghost_search_all", query="retry").text


def test_a_global_memory_is_saved_for_every_project(call: Calls, memory: Store) -> None:
    saved = call("ghost_save_global", content="be brief", category="preference")
    assert saved.text == f"Global memory saved (id: {saved.data['id']})"
    kept = memory.get(str(saved.data["id"]))
    assert (kept.project_id, kept.importance, kept.category) == (GLOBAL, 0.8, "preference")
