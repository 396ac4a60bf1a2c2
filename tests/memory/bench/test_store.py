from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from ghost_memory import lineage
from ghost_memory.bench.fixtures import Record
from ghost_memory.bench.store import NOW, filled


def test_keys_are_ids_and_ages_are_counted_back_from_one_time() -> None:
    records = [Record("new", "zebra", supersedes=("old",)), Record("old", "horse", age_days=10)]
    with filled(records) as connection:
        rows = connection.exec_driver_sql("SELECT id, created_at FROM memories ORDER BY id")
        assert [tuple(row) for row in rows] == [
            ("new", NOW),
            ("old", "2026-08-22T12:00:00.000000Z"),
        ]
        assert lineage.newer(connection, ["old"]) == {"old": ("new",)}


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with filled([Record("a", "zebra")]):
        assert list(tmp_path.iterdir()) != []
    assert list(tmp_path.iterdir()) == []
