"""Another key for a log: handed over, both sign once, the old one is wiped; killed anywhere, it goes on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import bundle, heads, identity, rotating
from ghost_ledger.auditing import audit
from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.verify import verify_bundle
from support.crashes import killed_at
from support.ledger import CLOSED, open_recorder, rows, sealed, spawned, url_of

STEPS = (
    "after ghost_ledger.identity:next_log_key",
    "after ghost_ledger.batch:Batch.finish",
    "after ghost_ledger.recorder:Recorder.rekey",
    "after ghost_ledger.handovers:KeptHandovers.keep",
    "after ghost_ledger.identity:_set_aside",
    "after ghost_ledger.identity:_take_place",
    "after ghost_ledger.identity:_zero",
)
COMMITTED = STEPS.index("after ghost_ledger.recorder:Recorder.rekey")
PROGRAM = """
from ghost_core.paths import Home
from ghost_ledger import rotating
from ghost_ledger.recorder import Recorder

def run(folder):
    url = f"sqlite:///{folder / 'ghost.db'}"
    with Recorder.open(Home(folder), url) as recorder:
        rotating.rotate(Home(folder), recorder, "yearly")
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "home"
    folder.mkdir()
    with open_recorder(folder) as recorder:
        sealed(recorder)
    return folder


@pytest.fixture(scope="module")
def crashed(made: Path) -> list[Path]:
    return killed_at(PROGRAM, made, STEPS)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "home")


def _vkey(folder: Path) -> str:
    return str(rows(folder, "SELECT vkey FROM log_head")[0])


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "keys").iterdir() if path.name != ".lock")


def _whole(folder: Path) -> bool:
    engine = db.engine(url_of(folder))
    try:
        return audit(engine, Home(folder)).exit_code == 0
    finally:
        engine.dispose()


def _bundled(folder: Path, sid: str) -> bytes:
    engine = db.engine(url_of(folder))
    try:
        return bundle.encode(Ledger(engine, Home(folder)).bundle(sid))
    finally:
        engine.dispose()


def test_both_keys_sign_one_head_and_the_old_one_is_gone(folder: Path) -> None:
    home, before = Home(folder), _vkey(folder)
    seed = (home.keys / "log_key").read_bytes()
    with (home.keys / "log_key").open("rb") as old, open_recorder(folder) as recorder:
        done = rotating.rotate(home, recorder, "yearly")
        assert recorder.log_vkey == done.new
        assert old.read() == bytes(len(seed))  # overwritten, not only unlinked
    assert (done.old, done.new, done.finished) == (before, _vkey(folder), False)
    for key in (done.old, done.new):
        head = open_checkpoint(done.head.read_bytes(), [Vkey.parse(key)])
        assert head.size == done.size
    assert rows(folder, "SELECT idx + 1 FROM entries WHERE type = 'log.key'") == [done.size]
    assert _files(folder) == ["log_key", "vault_key"]
    assert not any(seed in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert _whole(folder)


def test_old_and_new_sessions_verify_under_old_and_new_keys(folder: Path) -> None:
    (before,) = rows(folder, "SELECT session_id FROM sessions WHERE NOT system")
    with open_recorder(folder) as recorder:
        across = spawned(recorder)
        first = rotating.rotate(Home(folder), recorder, "one")
        across.act()
        recorder.seal(across.sid, CLOSED)
        second = rotating.rotate(Home(folder), recorder, "two")
        after = sealed(recorder)
    for sid in (before, across.sid, after):
        data = _bundled(folder, sid)
        for key in (first.old, first.new, second.new):
            assert verify_bundle(data, [key]).exit_code == 0, (sid, key)
    assert verify_bundle(_bundled(folder, across.sid), [across.vkey]).exit_code == 0
    assert _whole(folder)


@pytest.mark.parametrize("at", range(len(STEPS)), ids=[step.replace(" ", "-") for step in STEPS])
def test_killed_at_any_step_one_key_rules_and_a_second_run_finishes(
    crashed: list[Path], made: Path, at: int
) -> None:
    folder, old = crashed[at], _vkey(made)
    assert (_vkey(folder) == old) == (at < COMMITTED)
    # Whichever rules, the log goes on and its heads are signed by it.
    with open_recorder(folder) as recorder:
        sid = sealed(recorder)
    assert verify_bundle(_bundled(folder, sid), [_vkey(folder)]).exit_code == 0
    assert _whole(folder)
    with open_recorder(folder) as recorder:
        done = rotating.rotate(Home(folder), recorder, "again")
    assert (done.old, done.new) == (old, _vkey(folder))
    assert done.finished == (at >= COMMITTED)
    assert _files(folder) == ["log_key", "vault_key"]
    assert len(rows(folder, "SELECT idx FROM entries WHERE type = 'log.key'")) == 1
    for key in (old, done.new):
        assert open_checkpoint(done.head.read_bytes(), [Vkey.parse(key)]).size == done.size
        assert verify_bundle(_bundled(folder, sid), [key]).exit_code == 0
    assert _whole(folder)


def test_another_recorder_goes_on_with_the_new_key(folder: Path) -> None:
    with open_recorder(folder) as other:
        with open_recorder(folder) as recorder:
            done = rotating.rotate(Home(folder), recorder, "yearly")
        assert other.log_vkey == done.old  # it has not looked since
        sid = sealed(other)
        assert other.log_vkey == done.new
    report = verify_bundle(_bundled(folder, sid), [done.new])
    assert report.exit_code == 0
    assert _whole(folder)


def test_a_head_that_is_signed_while_the_key_changes_is_signed_by_one_that_rules(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking at the log and at the key, the key changes."""
    engine = db.engine(url_of(folder))
    remember = heads.remember

    def changed(*words: object, **named: object) -> None:
        monkeypatch.setattr(heads, "remember", remember)
        with open_recorder(folder) as recorder:
            rotating.rotate(Home(folder), recorder, "now")

    monkeypatch.setattr(heads, "remember", changed)
    key, note = Ledger(engine, Home(folder)).heads().sign()
    engine.dispose()
    assert key.format() == _vkey(folder)
    assert open_checkpoint(note, [key]).size == rows(folder, "SELECT size FROM log_head")[0]


def test_a_home_without_the_key_changes_nothing(folder: Path) -> None:
    with open_recorder(folder) as recorder:
        aside = folder / "aside"
        (folder / "keys" / "log_key").rename(aside)
        with pytest.raises(IntegrityError) as caught:
            rotating.rotate(Home(folder), recorder, "mine")
        aside.rename(folder / "keys" / "log_key")
    assert caught.value.code == "ledger.log_key"
    assert rows(folder, "SELECT count(*) FROM entries WHERE type = 'log.key'") == [0]


def test_a_next_key_that_was_lost_before_it_ruled_costs_nothing(folder: Path) -> None:
    """Linked and not replaced, then the next key is removed by hand: the present one must not be wiped."""
    keys = folder / "keys"
    os.link(keys / "log_key", keys / "log_key.old")
    seed = (keys / "log_key").read_bytes()
    identity.replace_log_key(Home(folder))
    assert (keys / "log_key").read_bytes() == seed
    assert _files(folder) == ["log_key", "vault_key"]
