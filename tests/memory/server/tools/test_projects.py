from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ghost_memory import binding
from ghost_memory.values import GLOBAL
from support.mcp import Calls
from support.memory import Store


def rows(answer: Any, name: str) -> list[dict[str, Any]]:
    found = answer.data[name]
    assert isinstance(found, list)
    return found


def test_the_context_of_a_project_shows_its_memories_and_what_all_share_once(call: Calls) -> None:
    own = call.save("the port is 8402")
    shared = str(call("ghost_save_global", content="be brief").data["id"])
    text = call("ghost_project_context", project_id="app").text
    assert "### Memories (1 shown)" in text
    assert text.count(own[:8]) == 1
    assert text.count(shared[:8]) == 1
    shared_only = call("ghost_project_context", project_id=GLOBAL).text
    assert shared_only.count(shared) == 1


def test_a_project_that_is_empty_says_so(call: Calls) -> None:
    saved = call.save("x")
    call("ghost_memory_delete", project_id="app", memory_id=saved)
    assert "nothing is remembered of it yet" in call("ghost_project_context", project_id="app").text


def test_first_contact_brings_what_the_host_wrote_down(
    call: Calls, memory: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "src" / "app"
    folder.mkdir(parents=True)
    place = memory.write(lambda w: binding.bind(w, "app", folder))
    notes = tmp_path / ".claude" / "projects" / place.path.replace("/", "-") / "memory"
    notes.mkdir(parents=True)
    (notes / "ports.md").write_text("---\ntype: gotcha\n---\nThe port of the proxy is 8402.")
    first = call("ghost_project_context", project_id="app")
    assert "«The port of the proxy is 8402.»" in first.text
    again = call("ghost_project_context", project_id="app")
    assert again.text == first.text


def test_resolve_tells_and_changes_nothing_without_apply(call: Calls, memory: Store) -> None:
    call.save("RESOLVED: the build was red because of the cache")
    told = call("ghost_resolve", project="app")
    assert told.text.startswith("1 loaded, 1 after prefilter, would resolve 1\n- `")
    assert memory.rows("SELECT count(*) FROM memories WHERE resolved_at IS NOT NULL") == [0]


def test_resolve_marks_only_what_a_rule_confirms(call: Calls, memory: Store) -> None:
    sure = call.save("RESOLVED: the build was red because of the cache")
    guess = call.save("the login bug was fixed in 1.2")
    old = call.save("the port is 8402")
    call.save("we serve on 9000 these days", supersedes=[old])
    done = call("ghost_resolve", project_id="app", apply=True)
    assert done.text.startswith("4 loaded, 3 after prefilter, resolved 2\n")
    resolved = memory.rows("SELECT id FROM memories WHERE resolved_at IS NOT NULL")
    assert set(resolved) == {sure, old}
    by_id = {row["id"]: row for row in rows(done, "candidates")}
    assert by_id[guess]["confirmed"] is False
    assert done.data["resolved"] == 2


def test_what_all_share_is_never_resolved(call: Calls) -> None:
    call("ghost_save_global", content="RESOLVED: x")
    assert "never resolved" in call.refused("ghost_resolve", project=GLOBAL, apply=True)


def test_delete_tells_what_would_go_and_changes_nothing(call: Calls, memory: Store) -> None:
    call.save("x")
    told = call("ghost_project_delete", project="app")
    assert told.text.startswith("Would delete project «app»: 1 memories, 0 tasks, 0 decisions")
    assert told.data["deleted"] is False
    assert memory.rows("SELECT count(*) FROM projects") == [1]


def test_delete_removes_a_project(call: Calls, memory: Store) -> None:
    call.save("x")
    done = call("ghost_project_delete", project_id="app", apply=True)
    assert done.text.startswith("Project «app» deleted: 1 memories")
    assert memory.rows("SELECT count(*) FROM memories") == [0]


def test_what_all_share_is_never_deleted(call: Calls) -> None:
    call("ghost_save_global", content="x")
    for apply in (False, True):
        said = call.refused("ghost_project_delete", project=GLOBAL, apply=apply)
        assert "stays as it is" in said


def test_projects_are_listed_with_their_counts(call: Calls) -> None:
    assert call("ghost_list_projects").text == "No projects yet."
    call.save("x", "one")
    call.save("y", "one")
    call.save("z", "two")
    assert call("ghost_list_projects").text == (
        "- «one» id: `one` path: «one» (2 memories)\n- «two» id: `two` path: «two» (1 memories)"
    )


def test_health_counts_what_there_is(call: Calls) -> None:
    call.save("the deploy job runs every night at two")
    call.save("the deploy job runs at night")
    health = call("ghost_health")
    assert health.text.startswith(
        "1 projects, 2 memories, 1 links, 0 scanned for links\n- «app»: 2"
    )
    assert health.data["memories"] == 2
