from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.server import uris
from ghost_memory.server.uris import Address, Touched, address, parse
from ghost_memory.values import GLOBAL
from support.memory import Store


@given(
    st.text(min_size=1, alphabet=st.characters(codec="utf-8")),
    st.sampled_from(("context", "tasks")),
)
def test_an_address_names_what_it_was_made_of(project: str, kind: str) -> None:
    assert parse(address(project, kind)) == Address(project, kind)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "ghost://",
        "ghost://project//context",
        "ghost://project/app/secrets",
        "ghost://memories/other",
        "file:///etc/passwd",
        "http://x/ghost://project/app/context",
    ],
)
def test_what_is_none_of_ours_names_nothing(uri: str) -> None:
    assert parse(uri) is None


def test_the_shared_memories_have_an_address() -> None:
    assert parse("ghost://memories/global") == Address(GLOBAL, "memories")


def test_a_change_is_told_under_id_and_name(memory: Store) -> None:
    memory.save("x", "one")
    memory.write(
        lambda writing: writing.connection.exec_driver_sql(
            "UPDATE projects SET name = 'my app' WHERE id = 'one'"
        )
    )
    told = memory.read(lambda connection: uris.touched(connection, [Touched("one", ("tasks",))]))
    assert told == [
        "ghost://project/one/tasks",
        "ghost://project/my%20app/tasks",
        "ghost://project/my app/tasks",
    ]


def test_a_project_that_is_gone_is_told_under_both_names_it_had(memory: Store) -> None:
    change = Touched("id1", ("context",), "name1")
    told = memory.read(lambda connection: uris.touched(connection, [change]))
    assert told == ["ghost://project/id1/context", "ghost://project/name1/context"]


def test_what_all_share_is_stale_in_every_context(memory: Store) -> None:
    memory.save("x", "one")
    memory.save("y", GLOBAL)
    told = memory.read(lambda connection: uris.touched(connection, [Touched(GLOBAL)]))
    assert set(told) == {
        "ghost://memories/global",
        "ghost://project/one/context",
        "ghost://project/_global/context",
    }
