"""A database file under a hex editor, cut, or put back: `ghost ledger verify` passes none of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ghost_cli.main import main
from support.commands import Command
from support.ledger import CLOSED, edit, intent, open_recorder, raw, rows, sealed, spawned

PARTS = {
    "body": "SELECT body FROM entries WHERE idx = 4",
    "signature": "SELECT sig FROM entries WHERE idx = 4",
    "leaf hash": "SELECT leaf_hash FROM entries WHERE idx = 4",
    "tile": "SELECT substr(hashes, 1, 40) FROM tiles",
    "frontier": "SELECT frontier FROM log_head",
    "payload": "SELECT data FROM payloads WHERE entry_idx = 4",
    "salt": "SELECT salt FROM payloads WHERE entry_idx = 4",
    "data key": "SELECT k.sealed FROM payload_keys k JOIN entries e ON e.sid = k.sid WHERE idx = 4",
    "derived signature": "SELECT CAST(signature AS BLOB) FROM actions ORDER BY entry_idx LIMIT 1",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose log has a full tile, in one file without a write-ahead log."""
    folder = tmp_path_factory.mktemp("whole")
    with open_recorder(folder) as recorder:
        sealed(recorder)
        owned = spawned(recorder)
        for _ in range(13):
            recorder.append(*[intent(owned.sid) for _ in range(20)])
        recorder.seal(owned.sid, CLOSED)
    with raw(folder) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def copied(made: Path, home: Path) -> Path:
    return shutil.copytree(made, home)


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.mark.parametrize("part", PARTS)
def test_a_bit_that_is_flipped_in_the_file_is_found(
    ghost: Command, copied: Path, part: str
) -> None:
    needle = bytes(rows(copied, PARTS[part])[0])
    path = copied / "ghost.db"
    content = bytearray(path.read_bytes())
    at, count = content.find(needle), 0
    assert at >= 0
    while at >= 0:  # where a value lies twice, as in an index, both are changed
        content[at + len(needle) // 2] ^= 1
        at, count = content.find(needle, at + 1), count + 1
    path.write_bytes(content)
    said = ghost("ledger", "verify", "--json", code=7)
    assert "unexpected" not in said.err


@pytest.mark.parametrize("bad", [b"\x00" * 40, b"\xff" * 40], ids=["zeros", "ones"])
def test_a_wiped_stretch_is_an_answer_and_no_crash(
    ghost: Command, copied: Path, bad: bytes
) -> None:
    path = copied / "ghost.db"
    size = path.stat().st_size
    for at in range(200, size, max(1, size // 12)):
        content = bytearray(path.read_bytes())
        whole = bytes(content)
        content[at : at + len(bad)] = bad
        path.write_bytes(content)
        code = main(["ledger", "verify"])
        said = ghost.capture.readouterr()
        assert "unexpected" not in said.err, (at, said.err)
        assert code in {0, 4, 7}, (at, said)  # 0 where the page holds nothing there
        path.write_bytes(whole)


def test_the_oldest_entries_cannot_go_as_if_they_had_been_pruned(
    ghost: Command, copied: Path
) -> None:
    edit(copied, "DELETE FROM entries WHERE idx < 8")
    said = ghost("ledger", "verify", "--json", code=7).json
    assert said["first_bad"] == 0


def test_a_session_cannot_be_taken_out_with_all_that_is_derived(
    ghost: Command, copied: Path
) -> None:
    (sid,) = rows(copied, "SELECT sid FROM entries WHERE idx = 2")
    for table, column in (
        ("entries", "sid"),
        ("sessions", "session_id"),
        ("actions", "session_id"),
        ("credentials_log", "session_id"),
    ):
        edit(copied, f"DELETE FROM {table} WHERE {column} = ?", sid)
    assert ghost("ledger", "verify", "--json", code=7).json["first_bad"] == 2
    ghost("ledger", "verify", "--fast", code=7)


def test_a_database_from_before_is_seen_by_what_is_remembered(ghost: Command, copied: Path) -> None:
    before = (copied / "ghost.db").read_bytes()
    with open_recorder(copied) as recorder:
        sealed(recorder)
    (copied / "ghost.db").write_bytes(before)
    said = ghost("ledger", "verify", "--json", code=7).json
    assert said["axes"]["head"]["state"] == "invalid"
    assert said["axes"]["chain"]["state"] == "valid"
