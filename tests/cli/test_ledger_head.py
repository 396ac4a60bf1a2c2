"""`ghost ledger head`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.paths import Home
from ghost_ledger import heads
from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.note import Vkey
from support.commands import Command
from support.ledger import edit, open_recorder, sealed


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.fixture
def sid(home: Path) -> str:
    with open_recorder(home) as recorder:
        return sealed(recorder)


def test_the_head_is_a_checkpoint_under_the_key_on_stderr(
    ghost: Command, sid: str, home: Path, tmp_path: Path
) -> None:
    said = ghost("ledger", "head")
    found = open_checkpoint(said.out.encode(), (Vkey.parse(said.err.strip()),))
    assert said.out.splitlines()[:2] == [found.origin, str(found.size)]
    assert heads.recall(Home(home), found.origin) == (found.size, found.root)
    (tmp_path / "head").write_text(said.out, "utf-8")
    ghost("bundle", sid, "-o", "a.ghost")
    ghost("verify", "a.ghost", "--key", said.err.strip(), "--head", "head")


def test_json_says_the_same(ghost: Command, sid: str) -> None:
    assert sid
    said = ghost("ledger", "head", "--json").json
    found = open_checkpoint(said["note"].encode(), (Vkey.parse(said["key"]),))
    assert said["schema"] == "ghost/head/v1"
    assert (said["origin"], said["size"]) == (found.origin, found.size)
    assert said["root_hash"] == f"sha256_{found.root.hex()}"


def test_it_is_remembered_before_it_leaves(ghost: Command, sid: str, home: Path) -> None:
    """What a lost memory should have known is learnt from the printed head."""
    assert sid
    for path in (home / "heads").glob("*.head"):
        path.unlink()
    size = ghost("ledger", "head", "--json").json["size"]
    (known,) = (home / "heads").glob("*.head")
    assert known.read_text().splitlines()[1] == str(size)


def test_a_log_that_went_back_has_no_head(ghost: Command, sid: str, home: Path) -> None:
    assert sid
    before = (home / "ghost.db").read_bytes()
    with open_recorder(home) as recorder:
        sealed(recorder)
    (home / "ghost.db").write_bytes(before)
    said = ghost("ledger", "head", code=7)
    assert said.out == ""
    assert "expected to contain the remembered head" in said.err


def test_without_a_ledger_there_is_none(ghost: Command, home: Path) -> None:
    assert "does not exist yet" in ghost("ledger", "head", code=4).err
    with open_recorder(home):
        pass
    edit(home, "DELETE FROM log_head")
    assert "found no log" in ghost("ledger", "head", code=7).err
