from __future__ import annotations

import pytest

from ghost_memory.values import GLOBAL
from support.mcp import Calls
from support.memory import Store

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_a_saved_memory_is_found_as_quoted_data(call: Calls) -> None:
    saved = call.save("The port is 8402 «now»", tags=["net", "port"])
    found = call("ghost_memory_search", project_id="app", query="which port?")
    assert found.text == (
        f'- [fact] `{saved}` (0.7 tags:["net","port"]) «The port is 8402 <<now>>»'
    )
    (row,) = found.data["memories"]  # type: ignore[misc]
    assert row["content"] == "«The port is 8402 <<now>>»"
    assert row["tags"] == ["net", "port"]
    assert found.data["total"] == 1


def test_saving_the_same_text_again_is_the_memory_that_is_there(call: Calls) -> None:
    first = call.save("The port is 8402")
    again = call("ghost_memory_save", project_id="app", content="The port  is 8402")
    assert again.text == f"Memory saved (id: {first}), existing: the same text was there"
    assert again.data["existing"] is True


def test_a_likely_twin_is_named_with_its_score(call: Calls) -> None:
    first = call.save("the deploy job runs every night at two")
    second = call("ghost_memory_save", project_id="app", content="the deploy job runs at night")
    assert f", linked as a likely duplicate of {first} (score 0." in second.text
    assert second.data["twin"] == first


def test_what_is_replaced_points_to_what_replaces_it(call: Calls) -> None:
    old = call.save("the port is 8402")
    new = call("ghost_memory_save", project_id="app", content="the port is 9000", supersedes=[old])
    assert new.text.endswith(f", replaces {old}")
    lines = call("ghost_memory_search", project_id="app", query="port 8402").text.split("\n")
    assert f"`{new.data['id']}`" in lines[0]
    assert f"[replaced by `{new.data['id']}`]" in lines[1]


def test_a_long_text_is_cut_and_that_is_said(call: Calls) -> None:
    saved = call("ghost_memory_save", project_id="app", content="wort " * 4000)
    assert saved.text.endswith("(content truncated to 8000 bytes)")
    assert saved.data["shortened"] is True


def test_a_secret_is_not_kept_and_that_is_said(call: Calls, memory: Store) -> None:
    saved = call("ghost_memory_save", project_id="app", content=f"the key is {SECRET}")
    assert saved.text.endswith("(1 secret removed before saving)")
    assert SECRET.encode() not in memory.on_disk()


def test_the_change_is_entered_under_the_name_of_the_client(call: Calls, memory: Store) -> None:
    call.save("x")
    (entry,) = [each for each in memory.changes() if each["change"] == "memory.saved"]
    assert (entry["by"], entry["host"]) == ("mcp", "test/1")


@pytest.mark.parametrize("path", ["/srv/app", "~/app", "./app", "C:\\app"[2:]])
def test_a_path_that_no_project_has_makes_no_project(call: Calls, path: str) -> None:
    said = call.refused("ghost_memory_save", project_id=path, content="x")
    assert "expected a name, found a path" in said


def test_an_unknown_project_is_an_error_that_lists_the_known_ones(call: Calls) -> None:
    call.save("x", "app")
    for tool, more in (
        ("ghost_memory_search", {"query": "x"}),
        ("ghost_memories_list", {}),
        ("ghost_project_context", {}),
        ("ghost_task_list", {}),
        ("ghost_decisions_list", {}),
        ("ghost_resolve", {}),
    ):
        said = call.refused(tool, project_id="nowhere", **more)
        assert said == "project 'nowhere': is not known\nknown: app"


def test_search_of_a_project_covers_what_all_share_and_says_so(call: Calls) -> None:
    own = call.save("tabs, not spaces, in makefiles")
    shared = str(call("ghost_save_global", content="tabs are liked by the user").data["id"])
    text = call("ghost_memory_search", project_id="app", query="tabs").text
    assert f"`{own}` (" in text
    assert f"`{shared}` in «_global» (" in text


def test_nothing_found_is_said(call: Calls) -> None:
    call.save("x")
    answer = call("ghost_memory_search", project_id="app", query="zzz")
    assert answer.text.startswith("No matching memories found.")
    assert answer.data["memories"] == []
    assert answer.data["verdict"] == "empty"


def test_a_list_pages_to_its_end(call: Calls) -> None:
    for number in range(7):
        call.save(f"fact number {number} of seven", importance=number / 10)
    first = call("ghost_memories_list", project_id="app", limit=4)
    assert first.text.endswith('(4 of 7 shown; the next with cursor "4")')
    rest = call("ghost_memories_list", project_id="app", limit=4, cursor=first.data["next_cursor"])
    ids = [row["id"] for page in (first, rest) for row in page.data["memories"]]  # type: ignore[attr-defined]
    assert len(set(ids)) == 7
    assert rest.data["next_cursor"] == ""


def test_a_list_by_category_brings_what_all_share(call: Calls) -> None:
    call.save("use tabs", category="convention")
    call("ghost_save_global", content="be brief", category="convention")
    assert call("ghost_memories_list", project_id="app").data["total"] == 1
    both = call("ghost_memories_list", project_id="app", category="convention")
    assert both.data["total"] == 2
    assert "in «_global»" in both.text


def test_the_shared_memories_can_be_listed_before_there_are_any(call: Calls) -> None:
    assert call("ghost_memories_list", project_id=GLOBAL).text == "No memories found."


def test_an_update_names_what_changed(call: Calls) -> None:
    saved = call.save("old text", tags=["a"])
    done = call(
        "ghost_memory_update", project_id="app", memory_id=saved[:6], content="new", tags=[]
    )
    assert done.text == f"Memory updated (id: {saved}): content, tags."
    assert done.data["changed"] == ["content", "tags"]
    assert "expected content" in call.refused(
        "ghost_memory_update", project_id="app", memory_id=saved
    )


def test_a_wrong_category_is_refused_with_all_that_there_are(call: Calls) -> None:
    said = call.refused("ghost_memory_save", project_id="app", content="x", category="idea")
    assert "architecture, decision, pattern, convention, gotcha" in said


def test_pin_and_unpin(call: Calls, memory: Store) -> None:
    saved = call.save("x")
    pinned = call("ghost_memory_pin", project_id="app", memory_id=saved, pinned=True)
    assert pinned.text == "Memory pinned."
    assert memory.get(saved).pinned
    unpinned = call("ghost_memory_pin", project_id="app", memory_id=saved, pinned=False)
    assert unpinned.text == "Memory unpinned."


def test_promote_moves_a_memory_to_what_all_share(call: Calls, memory: Store) -> None:
    saved = call.save("x")
    call("ghost_memory_promote", project_id="app", memory_id=saved)
    assert memory.get(saved).project_id == GLOBAL
    assert "is global already" in call.refused(
        "ghost_memory_promote", project_id=GLOBAL, memory_id=saved
    )


def test_delete_answers_success_only_for_what_is_gone(call: Calls, memory: Store) -> None:
    saved = call.save("the port is 8402")
    assert call("ghost_memory_delete", project_id="app", memory_id=saved).text == "Memory deleted."
    assert memory.rows("SELECT count(*) FROM memories") == [0]
    assert "does not exist" in call.refused(
        "ghost_memory_delete", project_id="app", memory_id=saved
    )


@pytest.mark.parametrize("tool", ["delete", "update", "promote", "pin"])
def test_a_memory_of_another_project_is_not_touched(call: Calls, memory: Store, tool: str) -> None:
    saved, more = call.save("x", "one"), {"update": {"content": "y"}, "pin": {"pinned": True}}
    call.save("y", "two")
    before = memory.get(saved)
    said = call.refused(
        f"ghost_memory_{tool}", project_id="two", memory_id=saved, **more.get(tool, {})
    )
    assert "is not of project 'two'" in said
    assert memory.get(saved) == before
