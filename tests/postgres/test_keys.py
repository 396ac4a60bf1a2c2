"""The key of a shared log: changed where it lives; and the way on where the database went back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.errors import DeniedError, IntegrityError
from ghost_core.paths import Home
from ghost_ledger import bundle, continuing, rotating
from ghost_ledger.auditing import audit
from ghost_ledger.continuing import NewLog
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.verify import verify_bundle
from support.ledger import CLOSED, sealed, spawned
from support.postgres import Shared

pytestmark = pytest.mark.postgres


def _opened(folder: Path, shared: Shared) -> Recorder:
    return Recorder.open(Home(folder), shared.url, linger_us=0)


def _go_on(folder: Path, shared: Shared, *, new_key: bool = False) -> NewLog:
    engine, home = db.engine(shared.url), Home(folder)
    try:
        return continuing.go_on(engine, home, SystemClock(), reason="lost", new_key=new_key)
    finally:
        engine.dispose()


def _whole(folder: Path, shared: Shared) -> bool:
    """Tell whether the log is whole; payloads of another home do not open here."""
    engine = db.engine(shared.url)
    try:
        axes = audit(engine, Home(folder)).axes
        return {axis.state for axis in axes if axis.name != "payloads"} == {"valid"}
    finally:
        engine.dispose()


def test_the_home_that_has_the_key_changes_it_and_others_go_on(
    tmp_path: Path, shared: Shared
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with _opened(one, shared) as first, _opened(two, shared) as second:
        owned = spawned(second)
        with pytest.raises(IntegrityError, match="does not hold its key") as caught:
            rotating.rotate(Home(two), second, "mine")
        assert caught.value.code == "ledger.log_key"
        done = rotating.rotate(Home(one), first, "yearly")
        owned.act()
        second.seal(owned.sid, CLOSED)
        assert second.log_vkey == done.new
        later = sealed(second)
        for sid in (owned.sid, later):
            data = bundle.encode(Ledger(first.engine, Home(one)).bundle(sid))
            for key in (done.old, done.new):
                assert verify_bundle(data, [key]).exit_code == 0
    assert _whole(one, shared)


def test_a_database_that_went_back_is_kept_by_hand_and_gone_on_from(
    tmp_path: Path, shared: Shared
) -> None:
    with _opened(tmp_path, shared) as recorder:
        sealed(recorder)
    yesterday = Shared(shared.server, shared.server.database(template=shared.name))
    with _opened(tmp_path, shared) as recorder:
        sealed(recorder)
        origin, (size, _) = recorder.origin, recorder.head
    moved = "ALTER SCHEMA public RENAME TO today", "CREATE SCHEMA public"
    shared.run(*moved)  # what is remembered is remembered of the address
    with pytest.raises(IntegrityError) as caught:
        _opened(tmp_path, shared)
    assert caught.value.hint is not None
    assert "ghost ledger continue" in caught.value.hint
    for new_key in (False, True):  # a log that is there is not emptied
        with pytest.raises(DeniedError) as refused:
            _go_on(tmp_path, yesterday, new_key=new_key)
    assert refused.value.code in {"ledger.shared", "ledger.whole"}
    done = _go_on(tmp_path, shared)
    assert (done.old.origin, done.old.size, done.kept) == (origin, size, None)
    assert shared.run("SELECT count(*) FROM today.entries") == [size]
    with _opened(tmp_path, shared) as recorder:
        assert recorder.origin == done.origin
        sealed(recorder)
    assert _whole(tmp_path, shared)
