"""`ghost ledger continue`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.commands import Command
from support.ledger import open_recorder, raw, rows, sealed, spawned
from support.memory import memory_at


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def _copied(home: Path) -> None:
    with raw(home) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(home / "ghost.db", home / "yesterday")


def _back(home: Path) -> None:
    for path in home.glob("ghost.db*"):
        path.unlink()
    shutil.copy(home / "yesterday", home / "ghost.db")


@pytest.fixture
def back(home: Path) -> str:
    """A home whose database went back; returns the session that is open in it."""
    with open_recorder(home) as recorder:
        sid = spawned(recorder).sid
    _copied(home)
    with open_recorder(home) as recorder:
        sealed(recorder)
    _back(home)
    return sid


def test_the_refusal_names_the_way_on_and_the_new_log_what_it_continues(
    ghost: Command, back: str, home: Path
) -> None:
    refused = ghost("ledger", "rotate-key", "--reason", "x", "--json", code=7).err
    assert "ghost ledger continue --reason WHY" in refused
    origin, _ = rows(home, "SELECT origin, vkey FROM log_head")[0]
    said = ghost("ledger", "continue", "--reason", "the disk is lost", "--json").json
    assert said["schema"] == "ghost/ledger-continue/v1"
    assert (said["continues"]["origin"], said["over"]) == (origin, [back])
    assert (Path(said["kept"]).parent, said["revoked"]) == (home, None)
    judged = ghost("ledger", "verify", "--json").json
    assert judged["continues"] == {**said["continues"], "reason": "the disk is lost"}
    assert f"continues {origin} at size" in ghost("ledger", "verify").out
    ghost("session", "list")
    # Once more there is nothing to leave.
    assert "is not behind" in ghost("ledger", "continue", "--reason", "again", code=5).err


def test_a_text_says_where_the_old_one_is_and_what_is_over(ghost: Command, back: str) -> None:
    text = ghost("ledger", "continue", "--reason", "lost").out
    assert "  the old database: " in text
    assert f"  over: {back}" in text
    assert "revoked" not in text


def test_another_key_gives_the_line_for_a_list(ghost: Command, home: Path, tmp_path: Path) -> None:
    with open_recorder(home) as recorder:
        sid = sealed(recorder)
        stolen = recorder.log_vkey
    ghost("bundle", sid, "-o", "a.ghost")
    said = ghost("ledger", "continue", "--new-key", "--reason", "stolen", "--json").json
    size = said["continues"]["size"]
    assert said["revoked"] == f"revoked {stolen} {size}"
    (tmp_path / "revoked").write_text(said["revoked"] + "\n", "utf-8")
    told = ghost("verify", "a.ghost", "--key", stolen, "--revoked", "revoked").out
    assert f"is revoked above size {size}" in told  # of before, and said so
    (tmp_path / "revoked").write_text(f"revoked {stolen} 1\n", "utf-8")
    ghost("verify", "a.ghost", "--key", stolen, "--revoked", "revoked", code=7)


def test_bundles_can_still_be_made_of_a_log_that_was_left_whole(
    ghost: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_recorder(home) as recorder:
        sid = sealed(recorder)
        left = recorder.log_vkey
    kept = ghost("ledger", "continue", "--new-key", "--reason", "stolen", "--json").json["kept"]
    monkeypatch.setenv("GHOST_DATABASE__URL", f"sqlite:///{kept}")
    ghost("bundle", sid, "-o", "a.ghost")
    ghost("verify", "a.ghost", "--key", left)
    ghost("replay", "--session-id", sid)
    ghost("ledger", "verify")
    # Nothing is added to it.
    assert "expected the log key" in ghost("ledger", "rotate-key", "--reason", "x", code=7).err


def test_memories_go_along_and_nobody_claims_what_the_new_log_does_not_say(
    ghost: Command, home: Path
) -> None:
    with memory_at(home) as memory:
        saved = memory.keep("the port is 8402")
    ghost("memory", "verify")
    ghost("ledger", "continue", "--new-key", "--reason", "stolen")
    assert "8402" in ghost("memory", "list", "--project", "app").out
    judged = ghost("memory", "verify", "--json", code=8).json
    assert [(each["id"], each["state"]) for each in judged["wrong"]] == [(saved.id, "undecided")]
    with memory_at(home) as memory:
        assert memory.keep("the port is 9000").id != saved.id
    ghost("memory", "verify", code=8)


def test_it_is_refused_inside_a_session(
    ghost: Command, back: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_SESSION_ID", back)
    assert "inside a session" in ghost("ledger", "continue", "--reason", "mine", code=5).err


def test_where_no_log_was_none_is_made(ghost: Command, home: Path) -> None:
    ghost("ledger", "continue", "--reason", "lost", code=4)
    assert not (home / "ghost.db").exists()
