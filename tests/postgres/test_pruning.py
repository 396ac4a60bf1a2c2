"""Pruning on PostgreSQL: what the guards let through, what the proofs still say, and who may not."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from ghost_cli.database_rights import RECORDER
from ghost_core import db
from ghost_core.errors import DeniedError, IntegrityError
from ghost_core.migrations.prune_guards import POSTGRES_PRUNE_GUARDS
from ghost_core.paths import Home
from ghost_ledger import tiles
from ghost_ledger.auditing import audit
from ghost_ledger.pruning import scrub
from ghost_ledger.recorder import Recorder
from ghost_ledger.schema import check_guards
from support.postgres import Shared
from support.pruning import EVER, grown, wrong

pytestmark = pytest.mark.postgres

STATEMENTS = (
    "DELETE FROM entries",
    "DELETE FROM entries WHERE type = 'session.seal'",
    "DELETE FROM entries WHERE type = 'log.pruned'",
    "DELETE FROM entries WHERE type = 'log.init'",
    "DELETE FROM entries WHERE sid = '{crossing}'",
    "DELETE FROM entries WHERE sid = '{unended}'",
    "DELETE FROM payloads",
    "TRUNCATE entries",
    "INSERT INTO entries SELECT 2, '{gone}', 0, prev, type, id, ts, body, sig, leaf_hash FROM entries"
    " WHERE idx = 300",
    "INSERT INTO entries SELECT (SELECT max(idx) + 1 FROM entries), '{gone}', 0, prev, type, id, ts,"
    " body, sig, leaf_hash FROM entries WHERE idx = 300",
)


def test_what_is_old_goes_and_nothing_else(tmp_path: Path, shared: Shared) -> None:
    with Recorder.open(Home(tmp_path), shared.url, linger_us=0) as recorder:
        sids = grown(recorder)
        leaves = shared.run("SELECT leaf_hash FROM entries ORDER BY idx")
        plan, _ = recorder.prune(EVER)
        assert (plan.new_minimum, plan.count) == (256, sids.entries)
        scrub(recorder.engine)
        found = audit(recorder.engine, Home(tmp_path))
        assert (found.exit_code, wrong(found), found.pruned) == (0, {}, sids.entries)
        with db.read(recorder.engine) as connection:
            assert tiles.root_at(connection, 1) == leaves[0]
            assert tiles.root_at(connection, 256) == plan.root
        assert recorder.prune(EVER)[1] == ()
    names = {"gone": sids.gone[0], "crossing": sids.crossing, "unended": sids.unended}
    before = shared.run("SELECT idx FROM entries ORDER BY idx")
    for statement in STATEMENTS:
        for first in ((), ("SET session_replication_role = replica",)):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="ledger: "):
                shared.run(*first, statement.format(**names))
    assert shared.run("SELECT idx FROM entries ORDER BY idx") == before
    shared.run("ALTER TABLE entries DISABLE TRIGGER ALL", "DELETE FROM entries WHERE idx = 256")
    found = audit(db.engine(shared.url), Home(tmp_path))
    assert (found.exit_code, found.first_bad) == (7, 256)


def test_a_role_that_records_prunes_nothing(tmp_path: Path, shared: Shared) -> None:
    with Recorder.open(Home(tmp_path), shared.url, linger_us=0) as recorder:
        grown(recorder)
    app, count = f"pruner_{shared.name}", shared.run("SELECT count(*) FROM entries WHERE idx < 256")
    grants = [f"GRANT {rights} ON {table} TO {app}" for table, rights in RECORDER.items()]
    shared.run(f"CREATE ROLE {app} LOGIN", *grants)
    url = shared.url.replace("ghost@", f"{app}@")
    with Recorder.open(Home(tmp_path), url, linger_us=0) as recorder:
        with pytest.raises(DeniedError) as caught:
            recorder.prune(EVER)
        assert (caught.value.code, caught.value.exit_code) == ("database.guarded", 5)
    assert shared.run("SELECT count(*) FROM entries WHERE idx < 256") == count
    assert shared.run("SELECT idx FROM entries WHERE type = 'log.pruned'") == []


@pytest.mark.parametrize("name", POSTGRES_PRUNE_GUARDS)
def test_a_missing_guard_is_named(shared: Shared, name: str) -> None:
    shared.run(f"DROP TRIGGER {name} ON {name.rpartition('_')[0]}")
    engine = db.engine(shared.url)
    with pytest.raises(IntegrityError, match=name), db.read(engine) as connection:
        check_guards(connection)
    engine.dispose()
