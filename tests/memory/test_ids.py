"""Ids: found whole or by a beginning that only one has."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, NotFoundError, UsageError
from ghost_memory import ids
from support.memory import Store


def with_ids(memory: Store, *wanted: str) -> None:
    """Save one memory for each id."""
    for number, each in enumerate(wanted):
        made = memory.save(f"x{number}y{each} z{number}").id
        memory.write(
            lambda w, made=made, each=each: w.connection.exec_driver_sql(
                "UPDATE memories SET id = ? WHERE id = ?", (each, made)
            )
        )


def full(memory: Store, beginning: str) -> str:
    return memory.read(lambda connection: ids.full(connection, "memories", beginning))


def test_new_ids_are_32_hex_digits_and_differ() -> None:
    made = {ids.new() for _ in range(100)}
    assert len(made) == 100
    assert all(len(each) == 32 and int(each, 16) >= 0 for each in made)


def test_a_unique_beginning_is_enough_in_any_case(memory: Store) -> None:
    with_ids(memory, "abcdef01" * 4, "ABCDFF01" * 4)
    assert full(memory, "abcde") == "abcdef01" * 4
    assert full(memory, " ABCDE ") == "abcdef01" * 4
    assert full(memory, "abcdf") == "ABCDFF01" * 4


def test_a_beginning_of_several_is_refused(memory: Store) -> None:
    with_ids(memory, "abcdef01" * 4, "ABCDFF01" * 4)
    with pytest.raises(UsageError) as caught:
        full(memory, "abcd")
    assert caught.value.code == "memory.ambiguous"


def test_a_whole_id_wins_over_those_that_go_on(memory: Store) -> None:
    with_ids(memory, "abcdef01", "abcdef012345")
    assert full(memory, "abcdef01") == "abcdef01"


@pytest.mark.parametrize(
    "beginning", ["", "abc", "a%cd", "____%", "ab cd", "x" * 3 + "\0", "Ａbcd"]
)
def test_what_can_be_no_beginning_is_refused(memory: Store, beginning: str) -> None:
    with pytest.raises(UsageError) as caught:
        full(memory, beginning)
    assert caught.value.code == "memory.id"


def test_signs_of_a_pattern_mean_themselves(memory: Store) -> None:
    with_ids(memory, "abcdef01")
    with pytest.raises(NotFoundError) as caught:
        full(memory, "a_cd")
    assert caught.value.code == "memory.unknown"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=60))
def test_any_text_is_answered(memory: Store, text: str) -> None:
    for table in ("memories", "tasks", "decisions"):
        with pytest.raises(GhostError), memory.journal.read() as connection:
            ids.full(connection, table, text)


def of(memory: Store, beginning: str, project: str) -> str:
    return memory.read(lambda connection: ids.full(connection, "memories", beginning, project))


def test_a_beginning_is_looked_for_in_the_project_first(memory: Store) -> None:
    with_ids(memory, "abcdef01" * 4)
    foreign = memory.save("of others", "other").id
    memory.write(
        lambda w: w.connection.exec_driver_sql(
            "UPDATE memories SET id = 'abcdef99' WHERE id = ?", (foreign,)
        )
    )
    assert of(memory, "abcdef", "app") == "abcdef01" * 4
    assert of(memory, "abcdef", "other") == "abcdef99"
    with pytest.raises(UsageError) as ambiguous:
        full(memory, "abcdef")
    assert ambiguous.value.code == "memory.ambiguous"


@pytest.mark.parametrize("beginning", ["abcdef01" * 4, "abcdef"])
def test_what_another_project_has_is_refused_and_its_owner_named(
    memory: Store, beginning: str
) -> None:
    with_ids(memory, "abcdef01" * 4)
    with pytest.raises(NotFoundError) as caught:
        of(memory, beginning, "other")
    assert caught.value.code == "memory.project"
    assert "is not of project 'other'" in caught.value.message
    assert "'app'" in str(caught.value.hint)
