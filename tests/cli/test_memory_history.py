"""`ghost memory history`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Command


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def test_a_memory_tells_what_happened_to_it_and_not_what_it_said(ghost: Command) -> None:
    saved = ghost("memory", "save", "the port is 8402", "--project", "app", "--json").json["id"]
    ghost("memory", "update", saved, "--content", "it is 9000")
    ghost("memory", "delete", saved)
    said = ghost("memory", "history", saved[:6], "--json")
    assert (said.json["schema"], said.json["memory"]) == ("ghost/memory-history/v1", saved)
    kinds = ["memory.saved", "memory.updated", "memory.deleted"]
    assert [each["change"] for each in said.json["changes"]] == kinds
    assert [bool(each["content"]) for each in said.json["changes"]] == [True, True, False]
    assert "8402" not in said.out
    lines = ghost("memory", "history", saved).out.splitlines()
    assert [line.split()[1] for line in lines] == kinds
    assert lines[1].endswith(f"{saved}  cli  content")


def test_without_an_id_the_newest_changes_come(ghost: Command, home: Path) -> None:
    assert ghost("memory", "history").out == "no changes\n"
    assert not home.exists()
    for text in ("one", "two"):
        ghost("memory", "save", text, "--project", "app")
    said = ghost("memory", "history", "--limit", "2", "--json").json
    assert (said["memory"], said["total"], len(said["changes"])) == (None, 3, 2)
    assert ghost("memory", "history", "--limit", "2").out.endswith("\n2 of 3\n")


def test_an_id_that_is_none_is_refused(ghost: Command) -> None:
    ghost("memory", "history", "abc", code=2)
    ghost("memory", "history", "abcd", code=4)
