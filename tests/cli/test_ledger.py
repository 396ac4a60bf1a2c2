"""`ghost ledger`: the group."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Command


def test_the_group_lists_its_commands(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = Command(capsys, tmp_path)("ledger", "--help").out
    assert all(name in said for name in ("head", "verify", "erase"))
