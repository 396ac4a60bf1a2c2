from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.ids import (
    action_id,
    entry_id,
    is_session_id,
    session_id,
    uuid7_hex,
)

STAMPS = st.integers(0, 2**48 - 1)


@given(STAMPS)
def test_an_id_is_a_uuid_of_version_7_with_the_time_in_front(stamp: int) -> None:
    value = uuid.UUID(hex=uuid7_hex(now_ms=stamp))
    assert value.int >> 80 == stamp
    assert (value.int >> 76) & 0xF == 7
    assert value.variant == uuid.RFC_4122


@given(STAMPS, STAMPS)
def test_ids_sort_by_time(one: int, two: int) -> None:
    earlier, later = sorted((one, two))
    assert uuid7_hex(now_ms=earlier)[:12] <= uuid7_hex(now_ms=later)[:12]


def test_no_two_ids_of_one_millisecond_are_equal() -> None:
    assert len({uuid7_hex(now_ms=1) for _ in range(1000)}) == 1000


def test_each_kind_of_id_has_its_prefix() -> None:
    assert is_session_id(session_id())
    assert action_id().startswith("act_")
    assert entry_id().startswith("ent_")


@pytest.mark.parametrize(
    "text",
    ["", "gh_", "gh_" + "A" * 32, "gh_" + "a" * 31, "gh_" + "a" * 32 + "\n", "gh_../" + "a" * 29],
)
def test_what_is_no_session_id_never_gets_into_a_path(text: str) -> None:
    assert not is_session_id(text)
