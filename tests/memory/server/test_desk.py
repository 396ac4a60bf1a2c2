from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ghost_core.errors import NotFoundError, UsageError
from ghost_core.settings_models import MemorySettings
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.desk import Desk, named_project, project_to_write
from ghost_memory.server.parts import plug
from ghost_memory.server.service import Service
from ghost_memory.values import GLOBAL
from support.mcp import Calls, opened_on
from support.memory import Store


def test_what_all_share_is_there_before_it_holds_anything(memory: Store) -> None:
    assert memory.read(lambda connection: named_project(connection, GLOBAL)).id == GLOBAL
    with pytest.raises(NotFoundError):
        memory.read(lambda connection: named_project(connection, "app"))


def test_a_new_name_makes_a_project_and_a_known_one_none(memory: Store) -> None:
    made = memory.write(lambda writing: project_to_write(writing, " app "))
    assert made.id == "app"
    assert memory.write(lambda writing: project_to_write(writing, "app")) == made
    assert memory.rows("SELECT count(*) FROM projects") == [1]


def test_a_path_makes_no_project_but_may_name_one(memory: Store) -> None:
    with pytest.raises(UsageError) as raised:
        memory.write(lambda writing: project_to_write(writing, "/srv/checkouts/app"))
    assert raised.value.code == "project.path"
    memory.save("x", "app")
    found = memory.write(lambda writing: project_to_write(writing, "/srv/checkouts/app"))
    assert found.id == "app"


# --- what belongs to one project is changed by no call for another ---

NEW = {"content": "we moved to 9000"}
CHOSEN = {"title": "t", "decision": "d", "rationale": "r"}
OF_ANOTHER: Mapping[str, Mapping[str, object]] = {
    "ghost_memory_delete": {"project_id": "mine", "memory_id": "memory"},
    "ghost_memory_update": {"project_id": "mine", "memory_id": "memory", "content": "x"},
    "ghost_memory_promote": {"project_id": "mine", "memory_id": "memory"},
    "ghost_memory_pin": {"project_id": "mine", "memory_id": "memory", "pinned": True},
    "ghost_memory_save": {"project_id": "mine", "supersedes": ["memory"], **NEW},
    "ghost_save_global": {"supersedes": ["memory"], **NEW},
    "ghost_task_update": {"project_id": "mine", "task_id": "task", "status": "done"},
    "ghost_task_complete": {"project_id": "mine", "task_id": "task"},
    "ghost_decision_record": {"project_id": "mine", "supersedes": "decision", **CHOSEN},
}
"""A call for `mine` by each tool that takes the id of a thing; the words stand for ids of another's."""

STATE = ("memories", "tasks", "decisions", "memory_links", "ghost_state", "projects")


@pytest.fixture
def theirs(call: Calls) -> Mapping[str, str]:
    """Fill `theirs` with one thing of each kind, `mine` with what is mine."""
    call.save("what is mine", "mine")
    made = call("ghost_decision_record", project_id=_made(call), **CHOSEN).data
    task = call("ghost_task_create", project_id="theirs", title="x").data
    memory = call.save("the port is 8402", "theirs")
    return {"memory": memory, "task": str(task["id"]), "decision": str(made["decision_id"])}


def _made(call: Calls) -> str:
    call.save("what is theirs", "theirs")
    return "theirs"


def held_by(memory: Store, project: str) -> list[object]:
    """Return every row of a project, and every link."""
    owned = [memory.rows(f"SELECT * FROM {t} WHERE project_id = ?", project) for t in STATE[:3]]
    return [*owned, memory.rows("SELECT * FROM memory_links")]


def filled(
    arguments: Mapping[str, object], ids: Mapping[str, str], length: int
) -> dict[str, object]:
    """Put ids, or beginnings of them, in place of the words."""

    def put(value: object) -> object:
        if isinstance(value, list):
            return [put(each) for each in value]
        return ids[value][:length] if isinstance(value, str) and value in ids else value

    return {name: put(value) for name, value in arguments.items()}


def test_every_tool_that_takes_an_id_is_among_these() -> None:
    kinds = {"memory_id", "task_id", "decision_id", "supersedes"}
    taking = {name for name, tool in TOOLS.items() if kinds & {p.name for p in tool.parameters}}
    assert taking == set(OF_ANOTHER)


@pytest.mark.parametrize("length", [8, 32])
@pytest.mark.parametrize("tool", OF_ANOTHER)
def test_a_call_for_one_project_changes_nothing_of_another(
    call: Calls, memory: Store, theirs: Mapping[str, str], tool: str, length: int
) -> None:
    before = held_by(memory, "theirs")
    arguments = filled(OF_ANOTHER[tool], theirs, length)
    if tool == "ghost_decision_record":  # the decision itself is kept, with a warning
        said = str(call(tool, **arguments).data["warning"])
    else:
        said = call.refused(tool, **arguments)
    assert "is not of project" in said
    assert held_by(memory, "theirs") == before


@pytest.mark.parametrize(
    "tool", ["ghost_memory_delete", "ghost_memory_update", "ghost_memory_pin", "ghost_memory_save"]
)
def test_what_all_share_is_changed_by_a_call_for_it_alone(
    call: Calls, memory: Store, theirs: Mapping[str, str], tool: str
) -> None:
    shared = str(call("ghost_save_global", content="be brief").data["id"])
    before = held_by(memory, GLOBAL)
    arguments = filled(OF_ANOTHER[tool], {**theirs, "memory": shared}, 32)
    said = call.refused(tool, **arguments)
    assert "it belongs to '_global'" in said
    assert held_by(memory, GLOBAL) == before
    call(tool, **{**arguments, "project_id": GLOBAL})
    assert held_by(memory, GLOBAL) != before


def test_a_project_of_another_is_neither_resolved_nor_deleted(
    call: Calls, memory: Store, theirs: Mapping[str, str]
) -> None:
    before = held_by(memory, "theirs")
    call("ghost_resolve", project="mine", apply=True)
    call("ghost_project_delete", project="mine", apply=True)
    assert held_by(memory, "theirs") == before


# --- a task is named by its id alone where the directory of the host says whose it is ---


def calls_from(memory: Store, folder: Path | None) -> Calls:
    """Return what calls tools of a server that its host started in a folder."""
    return Calls(Service(lambda: replace(opened_on(memory), folder=folder)))


def test_without_a_project_the_directory_of_the_host_decides(
    memory: Store, theirs: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    here = calls_from(memory, tmp_path / "mine")
    for tool, more in (("ghost_task_update", {"priority": 0}), ("ghost_task_complete", {})):
        said = here.refused(tool, task_id=theirs["task"], **more)
        assert "is not of project 'mine'\nit belongs to 'theirs'" in said
        here(tool, task_id=theirs["task"], project_id="theirs", **more)
    own = str(here("ghost_task_create", project_id="mine", title="x").data["id"])
    here("ghost_task_complete", task_id=own)


@pytest.mark.parametrize("folder", [None, "elsewhere"])
def test_where_no_directory_says_so_the_id_alone_is_enough(
    memory: Store, theirs: Mapping[str, str], tmp_path: Path, folder: str | None
) -> None:
    here = calls_from(memory, tmp_path / folder if folder else None)
    here("ghost_task_complete", task_id=theirs["task"][:8])


def test_a_project_that_is_named_wins_over_the_directory(memory: Store, tmp_path: Path) -> None:
    memory.save("x", "mine")
    memory.save("x", "other")
    desk = Desk(memory.journal, plug(MemorySettings()), tmp_path / "mine")
    (tmp_path / "mine").mkdir()
    assert memory.read(lambda connection: desk.owner(connection, "")) == "mine"
    assert memory.read(lambda connection: desk.owner(connection, "other")) == "other"
    with pytest.raises(NotFoundError):
        memory.read(lambda connection: desk.owner(connection, "unknown"))
