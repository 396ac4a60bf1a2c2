from __future__ import annotations

import pytest

from ghost_memory.server.budget import ANSWER_COST, cost
from ghost_memory.server.resources import NOTHING
from ghost_memory.server.service import Caller, Failure, Service
from support.mcp import Calls

KINDS = ("context", "decisions", "tasks")


def read(service: Service, uri: str) -> str:
    return service.read(uri, Caller())


def test_a_context_shows_each_global_once(service: Service, call: Calls) -> None:
    call.save("the port is 8402")
    call("ghost_save_global", content="be brief")
    text = read(service, "ghost://project/app/context")
    assert text.count("«be brief»") == 1
    assert "«the port is 8402»" in text
    assert "«be brief»" in read(service, "ghost://memories/global")


def test_open_tasks_are_shown_active_first_then_blocked_then_pending(
    service: Service, call: Calls
) -> None:
    call.save("x")
    for status in ("pending", "blocked", "active", "done"):
        task = call("ghost_task_create", project_id="app", title=f"a {status} one").data["id"]
        call("ghost_task_update", task_id=task, status=status)
    lines = read(service, "ghost://project/app/tasks").split("\n")
    assert [line.split("«")[1] for line in lines] == [
        "a active one»",
        "a blocked one»",
        "a pending one»",
    ]


def test_only_active_decisions_are_shown_with_their_reasons(service: Service, call: Calls) -> None:
    call.save("x")
    parts = {"project_id": "app", "title": "database", "decision": "SQLite", "rationale": "small"}
    old = call("ghost_decision_record", **parts).data["decision_id"]
    call("ghost_decision_record", **{**parts, "decision": "files"}, supersedes=old)
    text = read(service, "ghost://project/app/decisions")
    assert "Decision: «files»" in text
    assert "SQLite" not in text


def test_where_there_is_more_the_tool_is_named_that_has_it(service: Service, call: Calls) -> None:
    call.save("x")
    for number in range(20):
        call("ghost_task_create", project_id="app", title=f"task {number}", description="d" * 7000)
    text = read(service, "ghost://project/app/tasks")
    assert text.endswith(" of 20 shown; the rest with ghost_task_list)")
    assert cost(text) <= ANSWER_COST


def test_what_is_empty_says_so(service: Service, call: Calls) -> None:
    saved = call.save("x")
    call("ghost_memory_delete", project_id="app", memory_id=saved)
    said = [read(service, f"ghost://project/app/{kind}") for kind in KINDS]
    assert said == [NOTHING, "No active decisions.", "No open tasks."]
    assert read(service, "ghost://memories/global") == NOTHING


def test_a_project_is_found_by_its_encoded_name(service: Service, call: Calls) -> None:
    call.save("x", "org/my app")
    assert "«x»" in read(service, "ghost://project/org%2Fmy%20app/context")
    assert "«x»" in read(service, "ghost://project/org/my%20app/context")


@pytest.mark.parametrize(
    "uri", ["ghost://project/nowhere/tasks", "ghost://x", "file:///etc/passwd"]
)
def test_what_does_not_exist_is_missing(service: Service, uri: str) -> None:
    with pytest.raises(Failure) as raised:
        read(service, uri)
    assert raised.value.missing
