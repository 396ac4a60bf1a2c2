from __future__ import annotations

import re

import jsonschema
import pytest

from ghost_memory.server.budget import ANSWER_COST, cost
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.offer import Tool
from ghost_memory.server.parameters import schema

# The names and parameters of the public origin, required ones marked; ours may only add to them.
ORIGIN = {
    "ghost_memory_search": "project_id* query* category limit",
    "ghost_memory_save": "project_id* content* category importance tags",
    "ghost_project_context": "project_id* limit",
    "ghost_memories_list": "project_id* category limit",
    "ghost_memory_delete": "project_id* memory_id*",
    "ghost_memory_update": "project_id* memory_id* content category importance tags",
    "ghost_memory_promote": "project_id* memory_id*",
    "ghost_search_all": "query* limit",
    "ghost_save_global": "content* category importance tags",
    "ghost_memory_pin": "project_id* memory_id* pinned*",
    "ghost_task_create": "project_id* title* description priority",
    "ghost_task_list": "project_id* status limit",
    "ghost_task_update": "task_id* status priority description",
    "ghost_task_complete": "task_id* notes",
    "ghost_decision_record": "project_id* title* decision* rationale* alternatives tags supersedes",
    "ghost_decisions_list": "project_id* status limit",
    "ghost_resolve": "project* apply",
    "ghost_project_delete": "project* apply",
    "ghost_list_projects": "",
    "ghost_health": "",
}
ADDED = {"cursor", "supersedes", "status", "limit", "project_id"}
DEFAULTS = {
    "ghost_memory_search": {"limit": 10},
    "ghost_memory_save": {"category": "fact", "importance": 0.7},
    "ghost_project_context": {"limit": 20},
    "ghost_memories_list": {"limit": 30},
    "ghost_search_all": {"limit": 10},
    "ghost_save_global": {"category": "fact", "importance": 0.8},
    "ghost_task_create": {"priority": 2},
    "ghost_task_list": {"limit": 30},
    "ghost_decisions_list": {"limit": 20},
    "ghost_resolve": {"apply": False},
    "ghost_project_delete": {"apply": False},
}


def test_the_twenty_tools_have_the_names_of_the_origin_in_its_order() -> None:
    assert list(TOOLS) == list(ORIGIN)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_takes_what_the_origin_takes_and_nothing_more_is_required(tool: Tool) -> None:
    spelled = [f"{each.name}{'*' * each.required}" for each in tool.parameters]
    missing = set(ORIGIN[tool.name].split()) - set(spelled)
    more = set(spelled) - set(ORIGIN[tool.name].split())
    assert (missing, more - ADDED) == (set(), set())


@pytest.mark.parametrize("name", DEFAULTS)
def test_what_is_left_out_is_what_the_origin_assumed(name: str) -> None:
    defaults = {each.name: each.default for each in TOOLS[name].parameters}
    assert {each: defaults[each] for each in DEFAULTS[name]} == DEFAULTS[name]


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_both_schemas_are_plain_objects_that_every_host_reads(tool: Tool) -> None:
    for each in (schema(tool.parameters), dict(tool.data)):
        jsonschema.Draft202012Validator.check_schema(each)
        assert each["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "$ref"} & each.keys()


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_reads_or_writes_and_only_a_writer_destroys(tool: Tool) -> None:
    assert not (tool.reads and (tool.destroys or tool.repeats))
    assert re.fullmatch(r"[A-Z].*[^.]", tool.title)
    assert tool.about.endswith(".")


def test_what_is_offered_is_small() -> None:
    texts = [each.about + str(schema(each.parameters)) for each in TOOLS.values()]
    assert sum(map(cost, texts)) < ANSWER_COST * 2
