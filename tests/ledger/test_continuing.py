"""Going on under a new name: what is remembered is committed to, and all but the ledger stays."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.errors import DeniedError, GhostError, IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger import bundle, continuing, entry, heads, rotating
from ghost_ledger.auditing import Audit, audit
from ghost_ledger.continuing import NewLog
from ghost_ledger.reader import Ledger
from ghost_ledger.verify import verify_bundle
from support.crashes import killed_at
from support.ledger import edit, open_recorder, raw, rows, script, sealed, spawned, url_of

PROGRAM = """
from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.paths import Home
from ghost_ledger import continuing

def run(folder):
    engine = db.engine(f"sqlite:///{folder / 'ghost.db'}", home=Home(folder))
    continuing.go_on(engine, Home(folder), SystemClock(), reason="stolen", new_key=True)
"""
STEPS = (
    "after ghost_ledger.identity:next_log_key",
    "after ghost_core.db:copy",
    "after ghost_ledger.aside:put",
    "after ghost_ledger.batch:Batch.finish",
    "before ghost_ledger.identity:replace_log_key",
    "after ghost_ledger.identity:_set_aside",
    "after ghost_ledger.identity:_take_place",
)
COMMITTED = STEPS.index("before ghost_ledger.identity:replace_log_key")


def _with_engine[T](folder: Path, work: Callable[[db.Engine], T]) -> T:
    engine = db.engine(url_of(folder), home=Home(folder))
    try:
        return work(engine)
    finally:
        engine.dispose()


def _go_on(folder: Path, *, new_key: bool = False) -> NewLog:
    return _with_engine(
        folder,
        lambda engine: continuing.go_on(
            engine, Home(folder), SystemClock(), reason="lost", new_key=new_key
        ),
    )


def _audit(folder: Path) -> Audit:
    return _with_engine(folder, lambda engine: audit(engine, Home(folder)))


def _state(folder: Path) -> tuple[str, int, str]:
    (found,) = rows(folder, "SELECT origin, size, vkey FROM log_head")
    return str(found[0]), int(found[1]), str(found[2])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose database is of yesterday, and one of today beside it."""
    folder = tmp_path_factory.mktemp("made") / "home"
    folder.mkdir()
    with open_recorder(folder) as recorder:
        sealed(recorder)
        spawned(recorder, text="open")
    with raw(folder) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(folder / "ghost.db", folder / "yesterday")
    with open_recorder(folder) as recorder:
        sealed(recorder)
    with raw(folder) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def today(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "home")


@pytest.fixture
def folder(today: Path) -> Path:
    _back(today)
    return today


def _back(folder: Path) -> None:
    for path in folder.glob("ghost.db*"):
        path.unlink()
    shutil.copy(folder / "yesterday", folder / "ghost.db")


def _continued(folder: Path) -> dict[str, object]:
    (body,) = rows(folder, "SELECT body FROM entries WHERE idx = 2")
    read = entry.parse(body)
    assert read.type == "log.continued"
    return dict(read.fields)


def test_a_database_of_yesterday_goes_on_under_a_new_name(today: Path) -> None:
    origin, size, vkey = _state(today)
    known = heads.recall(Home(today), origin)
    _back(today)
    (live,) = rows(today, "SELECT session_id FROM sessions WHERE status = 'live' AND NOT system")
    with pytest.raises(IntegrityError) as caught:
        open_recorder(today)
    assert caught.value.hint is not None
    assert "ghost ledger continue" in caught.value.hint
    done = _go_on(today)
    assert known is not None
    assert (done.old.origin, done.old.size, done.old.root) == (origin, *known)
    assert _continued(today) == {
        "origin": origin, "size": size, "root": known[1].hex(), "reason": "lost",
    }  # fmt: skip
    assert done.over == (live,)
    assert (done.origin, done.vkey) == (_state(today)[0], _state(today)[2])
    assert done.origin != origin
    assert done.vkey.rpartition("+")[2] == vkey.rpartition("+")[2]  # the same key, another name
    found = _audit(today)
    assert found.exit_code == 0, found.axes
    assert found.continued is not None
    assert (found.continued.origin, found.continued.size) == (origin, size)
    with open_recorder(today) as recorder:
        sid = sealed(recorder)
        assert recorder.origin == done.origin
    data = _with_engine(
        today, lambda engine: bundle.encode(Ledger(engine, Home(today)).bundle(sid))
    )
    assert verify_bundle(data, [done.vkey]).exit_code == 0
    # What is remembered of the old log is as it was.
    assert heads.recall(Home(today), origin) == known


def test_the_old_database_is_kept_as_it_was(folder: Path) -> None:
    before = rows(folder, "SELECT * FROM entries ORDER BY idx")
    payloads = rows(folder, "SELECT * FROM payloads")
    kept = _go_on(folder).kept
    assert kept is not None
    assert kept.parent == folder
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    (folder / "ghost.db").unlink()
    kept.rename(folder / "ghost.db")
    assert rows(folder, "SELECT * FROM entries ORDER BY idx") == before
    assert rows(folder, "SELECT * FROM payloads") == payloads
    assert rows(folder, "PRAGMA integrity_check") == ["ok"]


def test_a_second_copy_never_overwrites_the_first(folder: Path) -> None:
    first = _go_on(folder).kept
    assert first is not None
    content = first.read_bytes()
    _back(folder)
    second = _go_on(folder).kept
    assert second is not None
    assert second != first
    assert first.read_bytes() == content


def test_a_log_that_is_whole_is_left_only_with_a_new_key(today: Path) -> None:
    before = _state(today)
    with pytest.raises(DeniedError) as caught:
        _go_on(today)
    assert caught.value.code == "ledger.whole"
    assert _state(today) == before
    (today / "keys" / "log_key").rename(today / "lost")
    with pytest.raises(DeniedError):
        _go_on(today)
    assert not (today / "keys" / "log_key").exists()
    (today / "lost").rename(today / "keys" / "log_key")
    seed = (today / "keys" / "log_key").read_bytes()
    done = _go_on(today, new_key=True)
    assert (done.old.origin, done.old.size, done.old_vkey) == before
    assert (today / "keys" / "log_key").read_bytes() != seed
    assert _audit(today).exit_code == 0
    assert [path.name for path in (today / "keys").glob("log_key*")] == ["log_key"]


def test_a_fork_is_gone_on_from_too(today: Path) -> None:
    origin, size, _ = _state(today)
    (path,) = (today / "heads").glob("*.head")
    path.unlink()
    heads.remember(Home(today), origin, size, b"\x01" * 32)
    done = _go_on(today)
    assert (done.old.size, done.old.root) == (size, b"\x01" * 32)
    assert _audit(today).exit_code == 0


@pytest.mark.parametrize("left", ["nothing", "no head", "no entries", "a broken head"])
def test_a_database_that_lost_its_log_goes_on_from_what_is_remembered(
    today: Path, left: str
) -> None:
    with open_recorder(today) as recorder:
        sealed(recorder)  # so that the head is remembered of the database at this place
    origin, size, _ = _state(today)
    if left == "nothing":
        for path in today.glob("ghost.db*"):
            path.unlink()
    elif left == "no head":
        script(today, "DELETE FROM log_head")
    elif left == "a broken head":
        script(today, "UPDATE log_head SET size = size + 1")
    else:
        guards = rows(today, "SELECT sql FROM sqlite_master WHERE type = 'trigger'")
        edit(today, "DELETE FROM entries")
        script(today, ";".join(guards))
    done = _go_on(today)
    assert (done.old.origin, done.old.size) == (origin, size)
    assert (done.kept is None) == (left == "nothing")
    assert _audit(today).exit_code == 0


def test_the_log_that_was_in_use_last_is_the_one_that_is_missed(folder: Path) -> None:
    first = _go_on(folder)
    for path in folder.glob("ghost.db*"):
        path.unlink()
    assert _go_on(folder).old.origin == first.origin


def test_where_never_was_a_log_none_is_made(tmp_path: Path) -> None:
    Home(tmp_path).ensure()
    with pytest.raises(NotFoundError):
        _go_on(tmp_path)
    assert not (tmp_path / "ghost.db").exists()


def test_a_rollback_past_a_change_of_key_is_a_rollback(folder: Path, made: Path) -> None:
    today = shutil.copytree(made, folder.with_name("other"))
    with open_recorder(today) as recorder:
        changed = rotating.rotate(Home(today), recorder, "yearly")
    _back(today)
    with pytest.raises(IntegrityError) as caught:
        open_recorder(today)
    assert caught.value.code == "ledger.rollback"
    done = _go_on(today)
    assert done.vkey.rpartition("+")[2] == changed.new.rpartition("+")[2]
    assert _audit(today).exit_code == 0


def test_a_process_that_has_the_old_log_open_writes_no_more(today: Path) -> None:
    with open_recorder(today) as recorder:
        owned = spawned(recorder)
        done = _go_on(today, new_key=True)
        for _ in range(2):
            with pytest.raises(GhostError, match="is not in this database any more"):
                owned.act()
        recorder.detach(owned.sid)
    assert _state(today)[0] == done.origin
    assert _audit(today).exit_code == 0


@pytest.fixture(scope="module")
def crashed(made: Path) -> list[Path]:
    return killed_at(PROGRAM, made, STEPS)


@pytest.mark.parametrize("at", range(len(STEPS)), ids=[step.replace(" ", "-") for step in STEPS])
def test_killed_at_any_step_one_log_rules_and_a_second_run_finishes(
    crashed: list[Path], made: Path, at: int
) -> None:
    folder, (old, size, vkey) = crashed[at], _state(made)
    assert (_state(folder)[0] == old) == (at < COMMITTED)
    # Whichever rules, it is whole and can be gone on with.
    with open_recorder(folder) as recorder:
        sealed(recorder)
    assert _audit(folder).exit_code == 0
    before = _state(folder)
    done = _go_on(folder, new_key=True)
    assert done.old.origin == old
    assert (done.old.size == size) == (at >= COMMITTED)  # else it had gone on meanwhile
    assert (_state(folder) == before) == (at >= COMMITTED)
    assert done.vkey.rpartition("+")[2] != vkey.rpartition("+")[2]
    assert [path.name for path in (folder / "keys").glob("log_key*")] == ["log_key"]
    assert _audit(folder).exit_code == 0
