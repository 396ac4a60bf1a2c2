"""`ghost memory list`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Command
from support.repositories import repository


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def test_memories_are_listed_by_importance_in_pages(ghost: Command, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    for importance in ("0.2", "0.9", "0.5"):
        ghost("memory", "save", f"note {importance}", "--importance", importance, folder=shop)
    ghost("memory", "save", "shared", "--project", "_global", "--category", "gotcha")
    found = ghost("memory", "list", "--json", folder=shop).json
    assert (found["schema"], found["total"]) == ("ghost/memories/v1", 3)
    assert [each["content"] for each in found["memories"]] == ["note 0.9", "note 0.5", "note 0.2"]
    page = ghost("memory", "list", "--limit", "1", "--offset", "1", folder=shop).out.splitlines()
    assert page[0].endswith("  note 0.5  (fact, shop)")
    assert page[1] == "1 of 3"
    gotchas = ghost("memory", "list", "--category", "gotcha", folder=shop).out
    assert "shared  (gotcha, _global)" in gotchas


def test_all_projects_are_listed_where_there_is_none(ghost: Command) -> None:
    assert ghost("memory", "list").out == "no memories\n"
    ghost("memory", "save", "one", "--project", "app")
    ghost("memory", "save", "two", "--project", "other", "--category", "gotcha")
    assert ghost("memory", "list", "--json").json["total"] == 2
    assert ghost("memory", "list", "--all", "--category", "gotcha", "--json").json["total"] == 1
    assert ghost("memory", "list", "--project", "app", "--json").json["total"] == 1
    ghost("memory", "list", "--project", "none", code=4)
    ghost("memory", "list", "--category", "nonsense", code=2)
    ghost("memory", "list", "--limit", "0", code=2)
