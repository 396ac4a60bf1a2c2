"""`ghost ledger verify`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import Command
from support.ledger import edit, open_recorder, rows, sealed, spawned


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.fixture
def sid(home: Path) -> str:
    with open_recorder(home) as recorder:
        spawned(recorder)
        return sealed(recorder)


def test_a_whole_log_with_an_open_session_is_verified_and_nothing_is_written(
    ghost: Command, sid: str, home: Path
) -> None:
    assert sid
    before = rows(home, "SELECT count(*) FROM entries")
    said = ghost("ledger", "verify", "--json").json
    assert said["schema"] == "ghost/ledger-verify/v1"
    assert (said["verdict"], said["exit_code"], said["first_bad"]) == ("valid", 0, None)
    assert said["entries"] == before[0]
    assert said["sessions"] == {"sealed": 2, "unsealed": 1}
    assert {axis["state"] for axis in said["axes"].values()} == {"valid"}
    assert rows(home, "SELECT count(*) FROM entries") == before


def test_a_text_names_each_axis_and_the_verdict(ghost: Command, sid: str) -> None:
    assert sid
    text = ghost("ledger", "verify").out
    for name in ("entries", "chain", "signatures", "tree", "head", "key", "columns", "payloads"):
        assert f"✓ {name}" in text
    assert text.rstrip().endswith("Verified. Everything that was checked holds.")


def test_fast_says_what_it_left_out(ghost: Command, sid: str) -> None:
    assert sid
    said = ghost("ledger", "verify", "--fast")
    assert "fast: neither signatures of entries" in said.out
    assert "· signatures" in said.out
    assert ghost("ledger", "verify", "--fast", "--json").json["fast"] is True


def test_the_first_bad_entry_is_named_with_exit_7(ghost: Command, sid: str, home: Path) -> None:
    assert sid
    edit(home, "UPDATE entries SET ts = ts + 1 WHERE idx IN (3, 5)")
    said = ghost("ledger", "verify", "--json", code=7).json
    assert (said["verdict"], said["first_bad"]) == ("invalid", 3)
    assert "idx 3: column ts" in ghost("ledger", "verify", code=7).out


def test_without_the_log_key_it_is_undecided(ghost: Command, sid: str, home: Path) -> None:
    assert sid
    (home / "keys" / "log_key").unlink()
    said = ghost("ledger", "verify", "--json", code=8).json
    assert said["axes"]["key"]["state"] == "incomplete"


def test_erased_payloads_are_no_fault(ghost: Command, sid: str) -> None:
    ghost("ledger", "erase", "--session-id", sid, "--basis", "request")
    assert "3 entries of erasure" in ghost("ledger", "verify").out


def test_nothing_is_never_a_pass(ghost: Command, home: Path) -> None:
    assert "does not exist yet" in ghost("ledger", "verify", code=4).err
    with open_recorder(home) as recorder:
        sealed(recorder)
    edit(home, "DELETE FROM entries")
    ghost("ledger", "verify", code=7)
    edit(home, "DELETE FROM log_head")
    assert "found no log" in ghost("ledger", "verify", code=7).err
