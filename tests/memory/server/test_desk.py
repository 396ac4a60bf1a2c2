from __future__ import annotations

import pytest

from ghost_core.errors import NotFoundError, UsageError
from ghost_memory.server.desk import named_project, project_to_write
from ghost_memory.values import GLOBAL
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
