from __future__ import annotations

import jsonschema
import pytest

from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.losses import losses
from support.mcp import Calls

SECRET = "ghp_" + "a1B2c3D4e5" * 4
LONG = "wort " * 4000


def test_what_is_kept_whole_is_not_spoken_of() -> None:
    assert losses(("a text", 10), (None, 5), ("", 5)) == ("", {})
    assert losses() == ("", {})


def test_both_losses_are_counted_over_all_texts() -> None:
    found = losses((f"{SECRET} and {SECRET}", 300), (f"{SECRET} b", 300), ("x" * 9, 8))
    assert found.remark == (
        " (text truncated, the longest to 300 bytes) (3 secrets removed before saving)"
    )
    assert found.data == {"shortened": True, "removed_secrets": 3}


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("ghost_memory_save", {"project_id": "app", "content": "{}"}),
        ("ghost_save_global", {"content": "{}"}),
        ("ghost_memory_update", {"project_id": "app", "memory_id": "memory", "content": "{}"}),
        ("ghost_task_create", {"project_id": "app", "title": "x", "description": "{}"}),
        ("ghost_task_create", {"project_id": "app", "title": "{}"}),
        ("ghost_task_update", {"task_id": "task", "description": "{}"}),
        ("ghost_task_complete", {"task_id": "task", "notes": "{}"}),
        (
            "ghost_decision_record",
            {"project_id": "app", "title": "t", "decision": "d", "rationale": "{}"},
        ),
    ],
    ids=["save", "global", "update", "task", "title", "task-update", "complete", "decision"],
)
def test_every_tool_that_keeps_a_text_says_what_it_left_out(
    call: Calls, tool: str, more: dict[str, str]
) -> None:
    ids = {"memory": call.save("x")}
    ids["task"] = str(call("ghost_task_create", project_id="app", title="x").data["id"])
    for text, name in ((f"key {SECRET}", "removed_secrets"), (LONG, "shortened")):
        arguments = {key: ids.get(value, value.replace("{}", text)) for key, value in more.items()}
        answer = call(tool, **arguments)
        assert answer.data[name]
        assert "removed before saving" in answer.text or "truncated" in answer.text
        jsonschema.validate(dict(answer.data), dict(TOOLS[tool].data))
