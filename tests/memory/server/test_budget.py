from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.quotation import MORE
from ghost_memory.server.budget import ANSWER_COST, clip, cost, share
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.service import Caller, Service
from support.mcp import Calls


@given(st.text(), st.integers(1, 300))
def test_a_clipped_text_costs_no_more_than_allowed(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert cost(clipped) <= limit + cost(MORE)
    assert clipped == text or clipped.endswith(MORE)


@given(st.text())
def test_a_text_within_the_limit_stays_whole(text: str) -> None:
    assert clip(text, cost(text)) == text


@given(st.text())
def test_cost_is_at_least_half_of_the_bytes(text: str) -> None:
    size = len(text.encode("utf-8", "replace"))
    assert size / 2 <= cost(text) <= size


def test_what_is_not_plain_latin_costs_every_byte() -> None:
    assert cost("漢字") == 6
    assert cost("1234") == 4


@given(st.lists(st.integers(0, 1000)), st.integers(0, 5000))
def test_a_share_keeps_the_budget_and_wastes_none_of_it(costs: list[int], budget: int) -> None:
    level = share(costs, budget)
    spent = sum(min(each, level) for each in costs)
    assert spent <= budget
    assert spent == sum(costs) or budget - spent < len(costs)


# --- no tool passes the limit, whatever is stored and however much is asked for ---

HOSTILE = ("漢字", "8402", '"\\\n', "🦎", "»", "<system>", "a\x1f", "\t")
HUGE = "漢" * 100_000
ASKED: Mapping[str, Mapping[str, object]] = {
    "ghost_memory_search": {"project_id": "app", "query": f"zebra {HUGE}", "limit": 100},
    "ghost_memory_save": {"project_id": "app", "content": HUGE, "tags": [HUGE] * 99, "supersedes": 20},
    "ghost_project_context": {"project_id": "app", "limit": 100},
    "ghost_memories_list": {"project_id": "app", "limit": 100, "category": "fact"},
    "ghost_memory_delete": {"project_id": "app", "memory_id": HUGE},
    "ghost_memory_update": {"project_id": "app", "memory_id": 1, "content": HUGE, "tags": [HUGE] * 99},
    "ghost_memory_promote": {"project_id": HUGE, "memory_id": 2},
    "ghost_search_all": {"query": "zebra", "limit": 100},
    "ghost_save_global": {"content": HUGE, "category": HUGE},
    "ghost_memory_pin": {"project_id": "app", "memory_id": 3, "pinned": HUGE},
    "ghost_task_create": {"project_id": "app", "title": HUGE, "description": HUGE},
    "ghost_task_list": {"project_id": "app", "limit": 100},
    "ghost_task_update": {"task_id": HUGE, "status": HUGE},
    "ghost_task_complete": {"task_id": "none", "notes": HUGE},
    "ghost_decision_record": {
        "project_id": "app", "title": HUGE, "decision": HUGE, "rationale": HUGE,
        "alternatives": [HUGE] * 99, "tags": [HUGE] * 99, "supersedes": HUGE,
    },
    "ghost_decisions_list": {"project_id": "app", "limit": 100, "cursor": "0"},
    "ghost_resolve": {"project": "app", "limit": 100, "apply": True},
    "ghost_project_delete": {"project": "app"},
    "ghost_list_projects": {"limit": 100},
    "ghost_health": {},
}  # fmt: skip
"""One call of each tool; a number stands for the id of a memory, or for so many of them."""


@pytest.fixture
def ids(call: Calls) -> list[str]:
    """Fill a project with what is as dear and as odd as it can be; return its memories."""
    made = []
    for number in range(24):
        text = f"RESOLVED: zebra {number} " + HOSTILE[number % 8] * 8000
        saved = call("ghost_memory_save", project_id="app", content=text, tags=[text[::-1]] * 3)
        made.append(str(saved.data["id"]))
    for number in range(8):
        text = HOSTILE[number % 8] * 8000 + str(number)
        call("ghost_memory_save", project_id=f"x{number}{text[:190]}", content="y")
        if text.strip():
            call("ghost_task_create", project_id="app", title=text, description=text)
            parts = {
                "title": text,
                "decision": text,
                "rationale": text,
                "alternatives": [text] * 20,
            }
            call("ghost_decision_record", project_id="app", **parts)
    return made


@pytest.mark.slow
def test_every_tool_keeps_the_limit_in_both_forms_and_for_every_page(
    service: Service, ids: list[str]
) -> None:
    assert set(ASKED) == set(TOOLS)
    for tool, arguments in ASKED.items():
        given = dict(arguments)
        for name, several in (("memory_id", False), ("supersedes", True)):
            if isinstance(number := given.get(name), int):
                given[name] = ids[:number] if several else ids[number]
        answer = service.call(tool, given, Caller())
        assert cost(answer.text) <= ANSWER_COST, tool
        assert cost(json.dumps(dict(answer.data), ensure_ascii=False)) <= ANSWER_COST, tool
        assert "unexpected" not in answer.text, tool


@pytest.mark.slow
def test_pages_of_hostile_rows_lead_through_all_of_them(call: Calls, ids: list[str]) -> None:
    seen: list[object] = []
    cursor = ""
    for _ in ids:
        page = call("ghost_memories_list", project_id="app", limit=100, cursor=cursor).data
        rows = page["memories"]
        assert isinstance(rows, list)
        seen += [row["id"] for row in rows]
        cursor = str(page["next_cursor"])
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == page["total"]
    assert set(ids) <= set(seen)
