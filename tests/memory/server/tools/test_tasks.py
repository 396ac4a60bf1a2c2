from __future__ import annotations

from support.mcp import Calls
from support.memory import Store


def made(call: Calls, title: str = "write docs", **more: object) -> str:
    return str(call("ghost_task_create", project_id="app", title=title, **more).data["id"])


def test_a_task_is_listed_with_its_description_below(call: Calls) -> None:
    call.save("x")
    task = made(call, description="all pages\nof it", priority=1)
    assert call("ghost_task_list", project_id="app").text == (
        f"- [pending] P1 `{task[:8]}` «write docs»\n  «all pages\n  of it»"
    )


def test_a_task_needs_a_project_that_is_known(call: Calls) -> None:
    assert "is not known" in call.refused("ghost_task_create", project_id="app", title="x")


def test_a_task_is_done_once_and_can_be_taken_up_again(call: Calls, memory: Store) -> None:
    call.save("x")
    task = made(call)
    assert call("ghost_task_update", task_id=task, status="done").text == "Task updated."
    assert memory.rows("SELECT completed_at IS NOT NULL FROM tasks") == [1]
    call("ghost_task_update", task_id=task, status="active")
    assert memory.rows("SELECT completed_at IS NULL FROM tasks") == [1]


def test_notes_are_added_when_a_task_is_completed(call: Calls, memory: Store) -> None:
    call.save("x")
    task = made(call)
    done = call("ghost_task_complete", task_id=task[:8], notes="first")
    assert done.text == "Task completed."
    assert done.data["completed_at"]
    call("ghost_task_complete", task_id=task, notes="second")
    assert memory.rows("SELECT notes FROM tasks") == ["first\nsecond"]


def test_tasks_are_listed_by_status_and_page(call: Calls) -> None:
    call.save("x")
    for number in range(5):
        made(call, f"task {number}")
    first = call("ghost_task_list", project_id="app", limit=3)
    assert first.data["next_cursor"] == "3"
    assert call("ghost_task_list", project_id="app", status="done").text == "No tasks found."
    assert "pending, active, done, blocked" in call.refused(
        "ghost_task_list", project_id="app", status="open"
    )
