"""Records: what a field may hold, whoever wrote the file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import UsageError
from ghost_memory import tables
from ghost_memory.exchange import KINDS, record
from ghost_memory.limits import CONTENT_BYTES
from support.memory import SECRET

BY_NAME = {kind.name: kind for kind in KINDS}
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=30),
    st.binary(max_size=5),
    st.lists(st.text(st.characters(), max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=1),
)


def memory(**parts: Any) -> dict[str, object]:
    row = {"id": "0A" * 16, "project_id": "app", "content": "text", **parts}
    return record(BY_NAME["memory"], row)


def test_every_field_is_a_column_and_no_column_but_what_is_made_anew_is_left_out() -> None:
    made_anew = {"seq", "digest", "pairs"}
    rows = {
        str(getattr(tables, name).__tablename__): getattr(tables, name) for name in tables.__all__
    }
    for kind in KINDS:
        columns = set(rows[kind.table].model_fields)
        assert set(kind.columns) | made_anew | {"id"} >= columns, kind.name
        assert set(kind.columns) <= columns, kind.name


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000000Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z"),
        ("2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.123456Z"),
        ("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05.000000Z"),
        ("2026-01-02", "2026-01-02T00:00:00.000000Z"),
    ],
)
def test_times_are_brought_into_our_form(given_: str, kept: str) -> None:
    assert memory(created_at=given_)["created_at"] == kept


def test_unknown_names_have_a_neighbour() -> None:
    kept = memory(category="nonsense", source="builtin", tags='["a"]', importance=7, pinned=1)
    assert (kept["category"], kept["source"], kept["tags"]) == ("fact", "import", '["a"]')
    assert (kept["importance"], kept["pinned"]) == (1.0, True)


def test_no_field_keeps_a_secret_or_is_too_long() -> None:
    kept = memory(
        content=f"{SECRET} " + "x" * 10_000, tags=[SECRET], agent=SECRET, project_id=SECRET
    )
    assert SECRET not in str(kept)
    assert len(str(kept["content"]).encode()) <= CONTENT_BYTES


@pytest.mark.parametrize(
    "parts",
    [
        {"id": "x"},
        {"id": "../../etc"},
        {"id": None},
        {"content": ""},
        {"content": 7},
        {"content": None},
        {"project_id": None},
        {"created_at": "yesterday"},
        {"pinned": 2},
        {"access_count": 2**70},
        {"access_count": "1"},
        {"importance": "much"},
        {"tags": 7},
        {"tags": [1]},
        {"created_at": "0001-01-01T00:00:00+14:00"},
    ],
)
def test_what_a_field_may_not_hold_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        memory(**parts)
    assert caught.value.code == "import.record"


@given(st.sampled_from(KINDS), st.data())
def test_any_row_is_kept_or_refused(kind: Any, data: st.DataObject) -> None:
    row = {name: data.draw(VALUES) for name in kind.columns}
    try:
        kept = record(kind, row)
    except UsageError:
        return
    assert kept.keys() <= kind.columns.keys()
