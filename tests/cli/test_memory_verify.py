"""`ghost memory verify`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Command
from support.ledger import raw


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.fixture
def saved(ghost: Command) -> str:
    return str(ghost("memory", "save", "the port is 8402", "--project", "app", "--json").json["id"])


def test_memories_that_agree_are_verified(ghost: Command, saved: str) -> None:
    said = ghost("memory", "verify", "--json").json
    assert (said["schema"], said["verified"]) == ("ghost/memory-verify/v1", True)
    assert (said["memories"], said["wrong"], said["broken"]) == (1, [], {})
    assert ghost("memory", "verify").out == "1 memory: all agree with their entries\n"


def test_a_row_that_was_changed_is_named(ghost: Command, home: Path, saved: str) -> None:
    with raw(home) as other:
        other.execute("UPDATE memories SET content = 'the port is 9000'")
    said = ghost("memory", "verify", "--json", code=7).json
    assert [(each["id"], each["state"]) for each in said["wrong"]] == [(saved, "broken")]
    assert ghost("memory", "verify", code=7).out.splitlines() == [
        f"{saved}  broken: its text is not the one that was entered",
        "1 memory: broken",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = replace(body, 'memory.saved', 'memory.spent')"
        " WHERE type = 'memory.changed'",
        "UPDATE entries SET sig = zeroblob(64) WHERE type = 'memory.changed'",
        "UPDATE entries SET type = 'run.event' WHERE type = 'memory.changed'",
        "DELETE FROM entries WHERE type = 'session.closed'",
        "DELETE FROM entries WHERE idx = (SELECT max(idx) FROM entries)",
    ],
    ids=["body", "signature", "type", "missing", "end"],
)
def test_an_entry_that_was_changed_breaks_it(
    ghost: Command, home: Path, saved: str, statement: str
) -> None:
    with raw(home) as other:
        for name in ("entries_update", "entries_delete"):
            other.execute(f"DROP TRIGGER {name}")
        other.execute(statement)
    assert ghost("memory", "verify", "--json", code=7).json["verified"] is False


def test_a_row_and_its_entries_that_were_both_taken_away_are_missed(
    ghost: Command, home: Path, saved: str
) -> None:
    with raw(home) as other:
        other.execute("DROP TRIGGER entries_delete")
        other.execute("DELETE FROM entries WHERE type = 'memory.changed'")
        other.execute("DELETE FROM memories")
    assert "the log has" in ghost("memory", "verify", code=7).out


def test_what_nobody_can_tell_is_incomplete(ghost: Command, home: Path, saved: str) -> None:
    (home / "keys" / "log_key").unlink()
    said = ghost("memory", "verify", "--json", code=8).json
    assert (said["wrong"], len(said["undecided"])) == ([], 1)
    assert "undecided: " in ghost("memory", "verify", code=8).out


def test_a_home_without_ledger_is_missing(ghost: Command, home: Path) -> None:
    ghost("memory", "verify", code=4)
    assert not home.exists()
