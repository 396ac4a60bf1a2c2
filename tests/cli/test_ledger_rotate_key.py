"""`ghost ledger rotate-key`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.note import Vkey
from support.commands import Command
from support.ledger import open_recorder, sealed


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.fixture
def sid(home: Path) -> str:
    with open_recorder(home) as recorder:
        return sealed(recorder)


def test_a_bundle_verifies_under_the_key_before_and_the_key_after(
    ghost: Command, sid: str, tmp_path: Path
) -> None:
    before = ghost("ledger", "head", "--json").json["key"]
    said = ghost("ledger", "rotate-key", "--reason", "yearly", "--json").json
    assert said["schema"] == "ghost/log-key/v1"
    assert (said["old_key"], said["finished"]) == (before, False)
    assert ghost("ledger", "head", "--json").json["key"] == said["new_key"]
    for key in (said["old_key"], said["new_key"]):
        assert open_checkpoint(Path(said["head"]).read_bytes(), [Vkey.parse(key)])
    ghost("bundle", sid, "-o", "a.ghost")
    for key in (said["old_key"], said["new_key"]):
        ghost("verify", "a.ghost", "--key", key)
    ghost("replay", "--session-id", sid)
    # Who revokes the old key above that size brings the new one.
    (tmp_path / "revoked").write_text(said["revoked"] + "\n", "utf-8")
    ghost("verify", "a.ghost", "--key", said["old_key"], "--revoked", "revoked", code=7)
    ghost("verify", "a.ghost", "--key", said["new_key"], "--revoked", "revoked")
    assert "key 2 of this log" in ghost("ledger", "verify").out
    unpacked = ghost("bundle", "unpack", "a.ghost", "-o", "plain", "--json").json["files"]
    assert "handover-0.note" in unpacked


def test_a_text_names_both_keys_and_the_line_for_a_list(ghost: Command, sid: str) -> None:
    assert sid
    said = ghost("ledger", "rotate-key", "--reason", "yearly").out
    assert "has a new key, the old one is wiped" in said
    assert "for a list of revoked keys: revoked ghost.local/" in said


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "x" * 301])
def test_a_reason_is_one_line(ghost: Command, sid: str, reason: str) -> None:
    assert sid
    assert "--reason" in ghost("ledger", "rotate-key", "--reason", reason, code=2).err


def test_it_is_refused_inside_a_session(
    ghost: Command, sid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_SESSION_ID", sid)
    assert "inside a session" in ghost("ledger", "rotate-key", "--reason", "mine", code=5).err


def test_where_no_log_is_none_is_made(ghost: Command, home: Path) -> None:
    ghost("ledger", "rotate-key", "--reason", "yearly", code=4)
    assert not (home / "ghost.db").exists()
