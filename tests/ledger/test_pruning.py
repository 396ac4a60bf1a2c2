"""Pruning: whole sealed sessions go, what must stay stays, and the log goes on as before."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ghost_core import db, ids
from ghost_core.errors import DeniedError, IntegrityError
from ghost_core.migrations.guards import SQLITE_GUARDS
from ghost_core.migrations.payload_guards import SQLITE_PAYLOAD_GUARDS
from ghost_core.paths import Home
from ghost_ledger import bundle, pruning, tiles, tree
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft
from ghost_ledger.pruning import limit, look
from ghost_ledger.reader import Ledger
from ghost_ledger.session.quarantine import imposed
from ghost_ledger.verify import verify_bundle
from support.handclock import HandClock
from support.ledger import (
    CLOSED,
    denied,
    edit,
    open_recorder,
    rows,
    script,
    sealed,
    spawn,
    spawned,
    url_of,
)
from support.pruning import CANARY, EVER, Grown, audited, filled, grown, wrong


@dataclass(frozen=True, slots=True)
class Made:
    """A log before and after: its leaf hashes, and bundles from before."""

    folder: Path
    before: Path
    sids: Grown
    leaves: list[bytes]
    bundles: dict[str, bytes]
    vkey: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder, before = tmp_path_factory.mktemp("pruned"), tmp_path_factory.mktemp("before") / "home"
    with open_recorder(folder) as recorder:
        sids, vkey = grown(recorder), recorder.log_vkey
        ledger = Ledger(recorder.engine, Home(folder))
        bundles = {sid: bundle.encode(ledger.bundle(sid)) for sid in sids.gone}
    leaves = rows(folder, "SELECT leaf_hash FROM entries ORDER BY idx")
    shutil.copytree(folder, before)
    with open_recorder(folder) as recorder:
        plan, said = recorder.prune(EVER)
        assert len(said) == 1
        assert (plan.new_minimum, set(plan.sids), plan.count) == (256, set(sids.gone), sids.entries)
    return Made(folder, before, sids, leaves, bundles, vkey)


@pytest.fixture
def folder(tmp_path: Path, made: Made) -> Path:
    return shutil.copytree(made.folder, tmp_path / "home")


@pytest.fixture
def unpruned(tmp_path: Path, made: Made) -> Path:
    return shutil.copytree(made.before, tmp_path / "home")


def _entries(folder: Path, sid: str) -> list[str]:
    return rows(folder, "SELECT type FROM entries WHERE sid = ? ORDER BY seq", sid)


def test_only_the_seal_of_a_session_that_went_is_left(made: Made) -> None:
    for sid in made.sids.gone:
        assert _entries(made.folder, sid) == ["session.seal"]
    for sid in (made.sids.crossing, made.sids.reaching, made.sids.unended):
        assert _entries(made.folder, sid) == _entries(made.before, sid)
    ours = rows(made.folder, "SELECT DISTINCT type FROM entries WHERE idx < 256")
    assert {"log.init", "payload.erased"} < set(ours)


def test_payloads_and_data_keys_go_too_and_the_text_of_the_intent(made: Made) -> None:
    gone = ", ".join(f"'{sid}'" for sid in made.sids.gone)
    assert rows(made.folder, f"SELECT sid FROM payload_keys WHERE sid IN ({gone})") == []
    assert rows(made.folder, f"SELECT intent FROM sessions WHERE session_id IN ({gone})") == (
        [None] * 4
    )
    orphans = "SELECT 1 FROM payloads WHERE entry_idx NOT IN (SELECT idx FROM entries)"
    assert rows(made.folder, orphans) == []
    assert len(rows(made.folder, "SELECT 1 FROM payloads")) > 5


@pytest.mark.parametrize("table", ["sessions", "actions", "credentials_log"])
def test_rows_that_were_derived_stay(made: Made, table: str) -> None:
    count = f"SELECT session_id, count(*) FROM {table} GROUP BY session_id"
    found, before = dict(rows(made.folder, count)), dict(rows(made.before, count))
    assert found.items() >= before.items()


def test_the_log_is_whole_and_says_what_is_not_there(made: Made) -> None:
    found = audited(made.folder)
    assert (found.exit_code, wrong(found), found.first_bad) == (0, {}, None)
    assert (found.pruned, found.minimum) == (made.sids.entries, 256)
    said = {axis.name: axis.detail for axis in found.axes}["pruned"]
    assert said.startswith(f"{made.sids.entries} entries of 4 sessions pruned below 256")
    assert "of their rows only what the seals say is judged" in said
    fast = audited(made.folder, fast=True)
    assert (fast.exit_code, fast.pruned) == (0, made.sids.entries)


def test_every_root_and_every_proof_is_as_before(made: Made) -> None:
    engine, leaves = db.engine(url_of(made.folder)), made.leaves
    with db.read(engine) as connection:
        node = tiles.nodes(connection)
        frontier, roots = tree.Frontier(), [tree.EMPTY]
        for leaf in leaves:
            frontier = frontier.append(leaf)
            roots.append(frontier.root())
        for size in (1, 2, 3, 100, 255, 256, 257, 300, 400, len(leaves)):
            assert tiles.root_at(connection, size) == roots[size]
            proof = tree.consistency_proof(node, size, len(leaves))
            tree.verify_consistency(size, len(leaves), proof, roots[size], roots[-1])
        for idx in (0, 1, 2, 7, 100, 255, 256, 400):
            path = tree.inclusion_proof(node, idx, len(leaves))
            tree.verify_inclusion(leaves[idx], idx, len(leaves), path, roots[-1])
    engine.dispose()


def test_a_bundle_from_before_still_verifies(made: Made) -> None:
    for content in made.bundles.values():
        report = verify_bundle(content, [made.vkey])
        assert (report.verdict, report.exit_code) == ("valid", 0)


def test_bundles_of_what_is_left_can_still_be_made(made: Made) -> None:
    engine = db.engine(url_of(made.folder))
    for sid in (made.sids.crossing, made.sids.reaching):
        content = bundle.encode(Ledger(engine, Home(made.folder)).bundle(sid))
        assert verify_bundle(content, [made.vkey]).exit_code == 0
    engine.dispose()


def test_the_log_goes_on_after_a_restart(folder: Path, made: Made) -> None:
    with open_recorder(folder) as recorder:
        assert recorder.recover(lambda _: True) != []  # the one that never ended
        filled(recorder, 100)
        assert len(recorder.prune(EVER)[1]) == 1  # the second tile is full now
        sealed(recorder)
    found = audited(folder)
    assert (found.exit_code, wrong(found)) == (0, {})
    assert found.minimum == 512
    assert _entries(folder, made.sids.unended)[0] == "session.spawn"


def test_once_more_does_nothing_and_says_what_was_done(folder: Path) -> None:
    with open_recorder(folder) as recorder:
        size = recorder.head[0]
        plan, said = recorder.prune(EVER)
        assert (plan.count, said, recorder.head[0]) == (0, (), size)
    assert [(each.new_minimum, each.count) for each in plan.before] == [(256, 214)]


def test_a_session_that_was_pruned_cannot_come_again(folder: Path, made: Made) -> None:
    with open_recorder(folder) as recorder:
        owned = spawned(recorder)
        again = type(owned)(recorder, made.sids.gone[0], owned.key)
        with pytest.raises(DeniedError) as caught:
            recorder.attach(again.sid, owned.key)
        assert caught.value.code == "session.sealed"
        recorder._writer.sign_with(again.sid, recorder._writer._signers[owned.sid])
        draft = spawn(owned)
        with pytest.raises(DeniedError):
            recorder.append(Draft(again.sid, draft.type, ids.entry_id(), draft.fields))


def test_what_is_newer_than_the_instant_stays(tmp_path: Path) -> None:
    clock = HandClock()
    with open_recorder(tmp_path, clock=clock) as recorder:
        filled(recorder, 270)
        clock.pass_seconds(100)
        cut = clock.now
        filled(recorder, 300)
        clock.pass_seconds(100)
        with db.read(recorder.engine) as connection:
            ends = [limit(connection, at) for at in (0, cut - 1, cut, cut + 1, clock.now)]
            assert ends == [0, 256, 256, 512, 512]
            assert look(connection, 256).count == 0  # it reaches over the only full tile
            assert look(connection, 512).count == 272


def test_an_instant_is_found_where_entries_are_missing(folder: Path) -> None:
    engine = db.engine(url_of(folder))
    with db.read(engine) as connection:
        assert (limit(connection, EVER), limit(connection, 0)) == (256, 0)
    engine.dispose()


def test_a_long_log_goes_in_steps_that_each_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_recorder(tmp_path) as recorder:
        sids = [filled(recorder, 100) for _ in range(8)]
        monkeypatch.setattr(pruning, "STEP", 150)
        with db.read(recorder.engine) as connection:
            whole = look(connection, limit(connection, EVER))
        plan, said = recorder.prune(EVER)
        assert (plan.sids, plan.count, plan.payloads) == (whole.sids, whole.count, whole.payloads)
        assert (plan.old_minimum, plan.new_minimum, plan.root) == (0, 768, whole.root)
    assert set(plan.sids) < set(sids)
    assert len(said) == 3
    found = audited(tmp_path)
    assert (found.exit_code, wrong(found), found.pruned) == (0, {}, whole.count)


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("memory.changed", {"memory": "m", "change": "saved"}),
        ("claim.changed", {"claim": "c", "change": "saved"}),
        ("action.denied", {}),
    ],
)
def test_a_session_that_speaks_of_memory_stays(
    tmp_path: Path, type_: str, fields: dict[str, Value]
) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        draft = denied(owned.sid)
        recorder.append(Draft(owned.sid, type_, ids.entry_id(), fields or draft.fields))
        recorder.seal(owned.sid, CLOSED)
        recorder.append(*[denied(recorder.system()) for _ in range(256)])
        with db.read(recorder.engine) as connection:
            found = look(connection, limit(connection, EVER)).sids
    assert found == ((owned.sid,) if type_ == "action.denied" else ())


def test_a_database_from_before_gets_the_new_guards(unpruned: Path, made: Made) -> None:
    before = (SQLITE_GUARDS["entries_delete"], SQLITE_PAYLOAD_GUARDS["payloads_delete"])
    script(
        unpruned,
        "DROP INDEX idx_entries_pruned; DROP INDEX idx_entries_kept;"
        "DROP TRIGGER entries_delete; DROP TRIGGER payloads_delete;"
        f"{before[0]};{before[1]}; UPDATE alembic_version SET version_num = '0003'",
    )
    with open_recorder(unpruned) as recorder:
        assert recorder.prune(EVER)[0].count == made.sids.entries
    assert audited(unpruned).exit_code == 0


def test_a_parent_of_a_live_session_stays(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        parent, child = spawned(recorder), spawned(recorder)
        recorder.seal(parent.sid, CLOSED)
        filled(recorder, 300)
        edit(
            tmp_path,
            "UPDATE sessions SET parent = ? WHERE session_id = ?",
            parent.sid,
            child.sid,
        )
        with db.read(recorder.engine) as connection:
            assert look(connection, limit(connection, EVER)).count == 0
        recorder.seal(child.sid, CLOSED)
        with db.read(recorder.engine) as connection:
            assert parent.sid in look(connection, limit(connection, EVER)).sids


def test_of_a_pruned_session_no_quarantine_is_told(made: Made) -> None:
    engine = db.engine(url_of(made.folder))
    assert imposed(Ledger(engine), made.sids.gone[0]) is None
    engine.dispose()


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE tiles SET hashes = zeroblob(8192) WHERE level = 0 AND number = 0", "ledger.tiles"),
        ("DELETE FROM entries WHERE idx = 100", "ledger.entries"),
        ("UPDATE entries SET leaf_hash = zeroblob(32) WHERE idx = 100", "ledger.tiles"),
    ],
    ids=["tile", "entry", "leaf"],
)
def test_what_is_not_whole_is_not_pruned(unpruned: Path, statement: str, code: str) -> None:
    edit(unpruned, statement)
    engine = db.engine(url_of(unpruned))
    with pytest.raises(IntegrityError) as caught, db.read(engine) as connection:
        look(connection, limit(connection, EVER))
    engine.dispose()
    assert caught.value.code == code


HALVES = """
import sys
from pathlib import Path
from ghost_ledger import pruning
from support.ledger import open_recorder
from support.pruning import EVER
def halves(all_):
    yield from all_[:3]
    sys.stdout.write("half\\n")
    sys.stdout.flush()
    sys.stdin.readline()
    yield from all_[3:]
pruning._DELETES = halves(pruning._DELETES)
open_recorder(Path(sys.argv[1])).prune(EVER)
"""


def test_a_kill_between_statement_and_deletion_leaves_neither_and_a_second_run_does_both(
    unpruned: Path, made: Made
) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", HALVES, str(unpruned)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        child.send_signal(signal.SIGKILL)
        child.wait(5)
    found = audited(unpruned)
    assert (found.exit_code, wrong(found), found.pruned) == (0, {}, 0)
    with open_recorder(unpruned) as recorder:
        plan, said = recorder.prune(EVER)
    assert len(said) == 1
    assert (plan.before, plan.count) == ((), made.sids.entries)
    assert audited(unpruned).pruned == made.sids.entries


def test_what_a_killed_process_left_in_pages_goes_with_the_second_run(folder: Path) -> None:
    def held() -> bool:
        files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        return CANARY.encode() in b"\0".join(files)

    with open_recorder(folder) as recorder:
        plan, _ = recorder.prune(EVER)
        assert (plan.count, len(plan.before)) == (0, 1)
        pruning.scrub(recorder.engine)
    assert not held()
