"""Opening a log: it must be ours, whole, and not behind its memory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.migrations.prune_guards import SQLITE_PRUNE_GUARDS
from ghost_core.paths import Home
from ghost_ledger import heads, opening
from ghost_ledger.recorder import Recorder
from support.ledger import CLOSED, open_recorder, rows, script, spawned, url_of

UNGUARDED = "DROP TRIGGER entries_delete"


def _used(folder: Path, *, sessions: int = 1) -> None:
    with open_recorder(folder) as recorder:
        for _ in range(sessions):
            owned = spawned(recorder)
            owned.act()
            recorder.seal(owned.sid, CLOSED)


def _refused(folder: Path, code: str) -> str:
    with pytest.raises(IntegrityError) as caught:
        open_recorder(folder).close()
    assert caught.value.code == code
    assert caught.value.exit_code == 7
    return caught.value.message


def _copy(folder: Path, name: str) -> None:
    rows(folder, "PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(folder / "ghost.db", folder / name)


def _restore(folder: Path, name: str) -> None:
    for path in folder.glob("ghost.db-*"):
        path.unlink()
    shutil.copy(folder / name, folder / "ghost.db")


def test_yesterdays_database_is_refused_with_both_heads(tmp_path: Path):
    _used(tmp_path)
    _copy(tmp_path, "yesterday.db")
    old = rows(tmp_path, "SELECT size FROM log_head")[0]
    _used(tmp_path)
    new = rows(tmp_path, "SELECT size FROM log_head")[0]
    _restore(tmp_path, "yesterday.db")
    message = _refused(tmp_path, "ledger.rollback")
    assert f"size {old} " in message
    assert f"size {new} " in message


def test_a_log_that_went_on_after_a_rollback_is_refused(tmp_path: Path):
    _used(tmp_path)
    _copy(tmp_path, "yesterday.db")
    _used(tmp_path)
    _restore(tmp_path, "yesterday.db")
    memory = tmp_path / "heads"
    memory.rename(tmp_path / "hidden")
    _used(tmp_path, sessions=3)
    shutil.rmtree(memory)
    (tmp_path / "hidden").rename(memory)
    _refused(tmp_path, "ledger.rollback")


def test_what_a_killed_owner_could_not_remember_is_remembered_by_the_next(tmp_path: Path):
    _used(tmp_path)
    (memory,) = (tmp_path / "heads").glob("*.head")
    older = memory.read_bytes()
    _used(tmp_path)
    newest = memory.read_bytes()
    memory.write_bytes(older)
    open_recorder(tmp_path).close()
    assert memory.read_bytes() == newest


def test_another_log_of_equal_size_is_refused(tmp_path: Path):
    _used(tmp_path)
    (state,) = rows(tmp_path, "SELECT origin, size FROM log_head")
    (path,) = (tmp_path / "heads").glob("*.head")
    path.unlink()
    heads.remember(Home(tmp_path), state[0], state[1], b"\x01" * 32)
    _refused(tmp_path, "ledger.rollback")


def test_a_database_that_was_removed_is_missed(tmp_path: Path):
    _used(tmp_path)
    for path in tmp_path.glob("ghost.db*"):
        path.unlink()
    message = _refused(tmp_path, "ledger.rollback")
    assert "found no log" in message


def test_an_emptied_table_is_seen(tmp_path: Path):
    _used(tmp_path)
    script(tmp_path, f"{UNGUARDED}; DELETE FROM entries; {SQLITE_PRUNE_GUARDS['entries_delete']}")
    _refused(tmp_path, "ledger.head")


def test_deleted_last_entries_are_seen(tmp_path: Path):
    _used(tmp_path)
    guard = SQLITE_PRUNE_GUARDS["entries_delete"]
    script(tmp_path, f"{UNGUARDED}; DELETE FROM entries WHERE idx > 3; {guard}")
    _refused(tmp_path, "ledger.head")


def test_a_dropped_guard_is_seen(tmp_path: Path):
    _used(tmp_path)
    script(tmp_path, UNGUARDED)
    _refused(tmp_path, "ledger.triggers")


def test_a_log_whose_key_is_gone_gets_no_new_one(tmp_path: Path):
    _used(tmp_path)
    (tmp_path / "keys" / "log_key").unlink()
    _refused(tmp_path, "ledger.log_key")
    assert not (tmp_path / "keys" / "log_key").exists()


def test_a_log_with_another_key_is_refused(tmp_path: Path):
    _used(tmp_path)
    (tmp_path / "keys" / "log_key").write_bytes(b"k" * 32)
    _refused(tmp_path, "ledger.log_key")


def test_a_read_only_home_is_a_clear_error(tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UnavailableError) as caught:
        Recorder.open(Home(blocked), url_of(blocked))
    assert caught.value.code == "home.unwritable"


def test_the_log_is_created_once(tmp_path: Path):
    home = Home(tmp_path).ensure()
    engine = db.engine(url_of(tmp_path))
    db.migrate(engine)
    assert opening.open_log(engine, home) == opening.open_log(engine, home)
    engine.dispose()
