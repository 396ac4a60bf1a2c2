"""The audit of a whole ledger: a whole one passes, and none that was changed does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IncompleteError, IntegrityError
from ghost_core.migrations.guards import SQLITE_GUARDS
from ghost_core.paths import Home
from ghost_ledger import auditing, rotating
from ghost_ledger.auditing import Audit, audit
from ghost_ledger.erasing import Wanted
from ghost_ledger.verify.succession import Succession
from support.ledger import (
    CLOSED,
    edit,
    intent,
    open_recorder,
    rows,
    script,
    sealed,
    spawned,
    url_of,
)

LEAVES = 300  # more than a tile


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited")
    with open_recorder(folder) as recorder:
        sealed(recorder)
        owned = spawned(recorder)
        for _ in range(LEAVES // 20):
            recorder.append(*[intent(owned.sid) for _ in range(20)])
        recorder.seal(owned.sid, CLOSED)
        recorder.erase(Wanted(sealed(recorder), "request", "alice"))
        spawned(recorder).act()
    return folder


@pytest.fixture
def folder(tmp_path: Path, _made: Path) -> Path:
    return shutil.copytree(_made, tmp_path / "home")


def _audit(folder: Path, *, fast: bool = False) -> Audit:
    engine = db.engine(url_of(folder))
    try:
        return audit(engine, Home(folder), fast=fast)
    finally:
        engine.dispose()


def _states(found: Audit) -> dict[str, str]:
    return {axis.name: axis.state for axis in found.axes}


def _wrong(found: Audit) -> set[str]:
    return {name for name, state in _states(found).items() if state == "invalid"}


def _kept(folder: Path, statement: str) -> None:
    """Change entries as the owner of the file can: the guards are gone for a moment only."""
    triggers = rows(folder, "SELECT name FROM sqlite_master WHERE type = 'trigger'")
    made = rows(folder, "SELECT sql FROM sqlite_master WHERE type = 'trigger'")
    drops = "".join(f"DROP TRIGGER {name};" for name in triggers)
    script(folder, f"{drops}{statement};{';'.join(made)}")


@pytest.mark.parametrize("page", [1, 7, 500])
def test_a_whole_ledger_is_whole(folder: Path, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(auditing, "PAGE", page)
    found = _audit(folder)
    assert set(_states(found).values()) == {"valid"}
    assert (found.exit_code, found.first_bad, found.open) == (0, None, 1)
    assert found.entries == rows(folder, "SELECT count(*) FROM entries")[0] > LEAVES
    assert found.pending == LEAVES
    assert rows(folder, "SELECT count(*) FROM tiles") == [1]


def test_fast_says_what_it_left_out(folder: Path) -> None:
    found = _audit(folder, fast=True)
    assert (found.exit_code, found.fast) == (0, True)
    assert _states(found)["signatures"] == "absent"
    assert not {"columns", "payloads"} & _states(found).keys()
    _kept(folder, "UPDATE entries SET sig = zeroblob(64) WHERE idx = 7")
    assert _audit(folder, fast=True).first_bad == 7  # the signature is inside the leaf


@pytest.mark.parametrize(
    ("statement", "axis"),
    [
        ("SET ts = ts + 1", "entries"),
        ("SET id = 'ent_x'", "entries"),
        ("SET sid = x'00'", "entries"),
        ("SET prev = zeroblob(32)", "entries"),
        ("SET leaf_hash = zeroblob(32)", "entries"),
        ("SET sig = zeroblob(64)", "entries"),
        ("SET sig = 7", "entries"),
        ("SET body = 'text'", "entries"),
        ("SET body = x'7b7d'", "entries"),
        (
            "SET body = CAST(replace(CAST(body AS TEXT), 'stripe.com', 'stripe.net') AS BLOB)",
            "entries",
        ),
    ],
)
def test_the_first_bad_entry_is_named(folder: Path, statement: str, axis: str) -> None:
    _kept(folder, f"UPDATE entries {statement} WHERE idx IN (12, 20)")
    found = _audit(folder)
    assert (found.exit_code, found.first_bad, _wrong(found) - {"head"}) == (7, 12, {axis})


def test_a_forged_signature_is_found_though_its_leaf_and_tree_are_made_anew(
    folder: Path,
) -> None:
    """What a forger with the log key can do, the key of an ended session still refuses."""
    from ghost_ledger import entry, tree
    from ghost_ledger.note import Vkey

    idx, sid = rows(folder, "SELECT idx, sid FROM entries WHERE type = 'session.closed' LIMIT 1")[0]
    (first,) = rows(folder, "SELECT body FROM entries WHERE sid = ? AND seq = 0", sid)
    key = Vkey.parse(str(entry.parse(first).fields["vkey"]))
    (body,) = rows(folder, "SELECT body FROM entries WHERE idx = ?", idx)
    leaf = tree.leaf_hash(entry.leaf(body, bytes(64), key.name, key.key_id))
    _kept(
        folder,
        f"UPDATE entries SET sig = zeroblob(64), leaf_hash = x'{leaf.hex()}' WHERE idx = {idx}",
    )
    found = _audit(folder)
    assert (found.exit_code, found.first_bad) == (7, idx)
    assert _wrong(found) >= {"signatures"}


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE idx = 9",
        "DELETE FROM entries WHERE idx < 9",
        "DELETE FROM entries WHERE idx > 9",
        "DELETE FROM entries",
        "UPDATE entries SET idx = idx + 1000 WHERE idx > 9",
        "DELETE FROM entries WHERE sid = (SELECT sid FROM entries WHERE type = 'action.denied')",
    ],
    ids=["one", "oldest", "newest", "all", "moved", "session"],
)
def test_a_missing_entry_is_never_passed_over(folder: Path, statement: str) -> None:
    _kept(folder, statement)
    assert _audit(folder).exit_code == 7
    assert _audit(folder, fast=True).exit_code == 7


def test_two_entries_cannot_change_places(folder: Path) -> None:
    _kept(
        folder,
        "UPDATE entries SET idx = -1 WHERE idx = 9; UPDATE entries SET idx = 9 WHERE idx = 10;"
        "UPDATE entries SET idx = 10 WHERE idx = -1",
    )
    found = _audit(folder)
    assert (found.exit_code, found.first_bad) == (7, 9)


@pytest.mark.parametrize(
    ("statement", "axis"),
    [
        ("UPDATE tiles SET root = zeroblob(32)", "tree"),
        ("UPDATE tiles SET hashes = zeroblob(8192)", "tree"),
        ("DELETE FROM tiles", "tree"),
        ("INSERT INTO tiles SELECT 1, 0, hashes, root FROM tiles", "tree"),
        ("UPDATE log_head SET last_ts = last_ts + 1", "head"),
        ("UPDATE log_head SET vkey = replace(vkey, '+', '+0')", "key"),
        ("UPDATE actions SET host = 'good.example'", "columns"),
        ("UPDATE sessions SET scope = '*'", "columns"),
        ("UPDATE sessions SET intent = 'harmless'", "columns"),
        ("DELETE FROM credentials_log", "columns"),
        ("DELETE FROM actions", "columns"),
        (
            "INSERT INTO sessions SELECT 'gh_x', intent, scope, spawned_at, ttl_seconds,"
            " evaporated_at, root_signature, scopes, status, reason, system, quarantined, parent,"
            " vkey, wire_key, token, policy, expires_at, boot, deadline, root, size FROM sessions"
            " LIMIT 1",
            "columns",
        ),
    ],
)
def test_what_is_derived_is_compared(folder: Path, statement: str, axis: str) -> None:
    script(folder, statement)
    found = _audit(folder)
    assert found.exit_code == 7
    assert axis in _wrong(found)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE payloads SET data = zeroblob(60) WHERE field = 'params'",
        "UPDATE payloads SET data = 'text' WHERE field = 'params'",
        "UPDATE payloads SET salt = zeroblob(32) WHERE field = 'response'",
        "UPDATE payloads SET salt = 'text' WHERE field = 'response'",
        "UPDATE payloads SET commitment = 'x' WHERE field = 'intent'",
        "UPDATE payloads SET field = 'id' WHERE field = 'response'",
        "UPDATE payloads SET entry_idx = entry_idx + 100000",
        "UPDATE payload_keys SET sealed = zeroblob(72)",
        "DELETE FROM payload_keys",
    ],
)
def test_a_payload_must_be_the_committed_one(folder: Path, statement: str) -> None:
    _kept(folder, statement)
    found = _audit(folder)
    assert (found.exit_code, _wrong(found)) == (7, {"payloads"})


def test_yesterdays_database_is_behind_the_remembered_head(folder: Path, tmp_path: Path) -> None:
    old = (folder / "ghost.db").read_bytes()
    with open_recorder(folder) as recorder:
        sealed(recorder)
    for name in ("ghost.db-wal", "ghost.db-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / "ghost.db").write_bytes(old)
    found = _audit(folder)
    assert (found.exit_code, _wrong(found)) == (7, {"head"})


@pytest.mark.parametrize(
    ("gone", "axis"), [("keys/log_key", "key"), ("heads", "head")], ids=["key", "heads"]
)
def test_without_key_or_memory_nothing_is_decided(folder: Path, gone: str, axis: str) -> None:
    path = folder / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    (folder / "heads").mkdir(exist_ok=True)
    found = _audit(folder)
    assert (found.exit_code, _states(found)[axis]) == (8, "incomplete")


def test_an_entry_of_a_later_version_is_undecided_and_not_passed_over(folder: Path) -> None:
    from ghost_ledger import entry_types

    known = dict(entry_types.ENTRY_TYPES)
    hidden = {name: each for name, each in known.items() if name != "action.denied"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ghost_ledger.entry.ENTRY_TYPES", hidden)
        found = _audit(folder)
    assert found.exit_code == 8
    assert "action.denied of version 1 is unknown" in str(found.axes[0].detail)


def test_no_log_at_all_is_no_pass(tmp_path: Path) -> None:
    Home(tmp_path).ensure()
    db.migrate(db.engine(url_of(tmp_path)))
    with pytest.raises(IncompleteError) as caught:
        _audit(tmp_path)
    assert (caught.value.code, caught.value.exit_code) == ("ledger.empty", 8)


def test_a_log_without_an_entry_is_no_pass(tmp_path: Path) -> None:
    from ghost_ledger import opening

    home, engine = Home(tmp_path).ensure(), db.engine(url_of(tmp_path))
    db.migrate(engine)
    opening.open_log(engine, home)
    engine.dispose()
    found = _audit(tmp_path)
    assert (found.entries, found.exit_code) == (0, 8)


def test_a_log_that_is_gone_is_a_rollback(folder: Path) -> None:
    with open_recorder(folder) as recorder:  # so that this place of the database is remembered
        sealed(recorder)
    script(folder, "DELETE FROM log_head")
    with pytest.raises(IntegrityError, match="has entries and no head"):
        _audit(folder)
    edit(folder, "DELETE FROM entries")
    with pytest.raises(IntegrityError) as caught:
        _audit(folder)
    assert caught.value.code == "ledger.rollback"


def test_the_guards_that_the_tests_put_back_are_ours(folder: Path) -> None:
    _kept(folder, "SELECT 1")
    found = rows(folder, "SELECT name FROM sqlite_master WHERE type = 'trigger'")
    assert set(SQLITE_GUARDS) < set(found)


def test_a_key_that_is_changed_while_the_log_is_read_is_undecided(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Succession.finish

    def finish(self: Succession, key: str) -> None:
        with open_recorder(folder) as recorder:
            rotating.rotate(Home(folder), recorder, "now")
        begun(self, key)

    with monkeypatch.context() as patch:
        patch.setattr(Succession, "finish", finish)
        found = _audit(folder)
    assert (found.exit_code, _states(found)["key"]) == (8, "incomplete")
    assert _audit(folder).exit_code == 0
