from __future__ import annotations

import fcntl
import json
import sqlite3
from pathlib import Path

import pytest

from ghost_cli.doctor import folders
from ghost_cli.doctor.check import Check
from ghost_core.paths import Home, runtime_dir, runtime_place

OVER, LIVE = "gh_" + "1" * 32, "gh_" + "2" * 32


def home_check(home: Path) -> Check:
    (found,) = folders.examine_home(Home(home))
    return found


def runtime_check(home: Path) -> Check:
    (found,) = folders.examine_runtime(Home(home))
    return found


def ledger_with(home: Path) -> None:
    """Leave a database that knows one session as over and one as not."""
    Home(home).ensure()
    with sqlite3.connect(home / "ghost.db") as db:
        db.execute("CREATE TABLE sessions (session_id TEXT, evaporated_at TEXT)")
        db.execute("INSERT INTO sessions VALUES (?, 'then'), (?, NULL)", (OVER, LIVE))
    db.close()


def test_a_home_that_does_not_exist_is_said_so_and_not_made(home: Path) -> None:
    found = home_check(home)
    assert (found.status, "does not exist yet" in found.found) == ("ok", True)
    assert not home.exists()


def test_a_home_that_cannot_be_made_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert home_check(tmp_path / "none").status == "fail"


def test_a_private_home_is_fine(home: Path) -> None:
    Home(home).ensure()
    assert home_check(home).status == "ok"


@pytest.mark.parametrize("name", ["", "keys", "ghost.toml", "keys/vault"])
def test_what_others_may_read_fails_with_the_command_that_mends_it(home: Path, name: str) -> None:
    Home(home).ensure()
    path = home / name
    if not path.exists():
        path.write_text("")
    path.chmod(0o755)
    found = home_check(home)
    assert (found.status, str(path) in found.mend) == ("fail", True)


def test_a_file_in_the_place_of_the_home_fails(home: Path) -> None:
    home.write_text("")
    assert "is no folder" in home_check(home).found


def test_a_home_of_somebody_else_fails(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Home(home).ensure()
    monkeypatch.setattr("os.geteuid", lambda: 4711)
    assert "another user" in home_check(home).found


def test_a_home_without_write_permission_fails(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Home(home).ensure()
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "cannot be written" in home_check(home).found


def test_a_runtime_folder_that_does_not_exist_is_said_so_and_not_made(home: Path) -> None:
    assert "does not exist yet" in runtime_check(home).found
    assert not runtime_place().exists()


def test_a_runtime_folder_that_others_may_enter_fails(home: Path) -> None:
    runtime_dir().chmod(0o755)
    assert runtime_check(home).status == "fail"


def test_what_the_dead_left_is_named(home: Path) -> None:
    ledger_with(home)
    for sid in (OVER, LIVE):
        (runtime_dir() / sid).mkdir(mode=0o700)
        (runtime_dir() / sid / "lock").touch(mode=0o600)
    note = {"pid": 2**30, "port": 9, "started": 1, "home": str(home)}
    (runtime_dir() / "possess-9.json").write_text(json.dumps(note))
    (runtime_dir() / "possess-8.json").write_text("{")
    found = runtime_check(home)
    assert found.status == "warn"
    assert all(name in found.mend for name in (OVER, "possess-9.json", "possess-8.json"))
    assert LIVE not in found.mend
    assert (runtime_dir() / "possess-9.json").exists()


def test_the_folder_of_an_owned_session_is_no_leftover(home: Path) -> None:
    ledger_with(home)
    (runtime_dir() / OVER).mkdir(mode=0o700)
    with (runtime_dir() / OVER / "lock").open("w") as lock:
        (runtime_dir() / OVER / "lock").chmod(0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert runtime_check(home).status == "ok"


def test_a_database_that_is_none_makes_nothing_stale(home: Path) -> None:
    Home(home).ensure()
    (home / "ghost.db").write_bytes(b"no database")
    (runtime_dir() / OVER).mkdir(mode=0o700)
    assert runtime_check(home).status == "ok"
