"""Whose quarantine holds for a session, and what its entry tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.session.quarantine import imposed, source
from ghost_ledger.store import SessionRow
from support.ledger import Owned, open_recorder, raw, spawned


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with open_recorder(tmp_path) as opened:
        yield opened


@pytest.fixture
def ledger(recorder: Recorder) -> Ledger:
    return Ledger(recorder.engine)


def stop(owned: Owned, *, by: str = "hook:a") -> None:
    fields: dict[str, Value] = {"by": by, "reason": "odd"}
    owned.recorder.append(Draft(owned.sid, "session.quarantined", ids.entry_id(), fields))


def row(ledger: Ledger, sid: str, *, parent: str | None = None) -> SessionRow:
    found = ledger.session(sid)
    assert found is not None
    found.parent = parent
    return found


def test_a_session_in_quarantine_is_its_own_source(recorder: Recorder, ledger: Ledger) -> None:
    owned = spawned(recorder)
    assert source(ledger, row(ledger, owned.sid)) == ""
    stop(owned)
    assert source(ledger, row(ledger, owned.sid)) == owned.sid


def test_a_child_is_in_the_quarantine_of_whoever_is_above(
    recorder: Recorder, ledger: Ledger
) -> None:
    above, below = spawned(recorder), spawned(recorder)
    stop(above)
    assert source(ledger, row(ledger, below.sid, parent=above.sid)) == above.sid
    assert source(ledger, row(ledger, below.sid, parent="gh_" + "0" * 32)) == ""


def test_a_table_that_leads_in_circles_stops_the_session(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    owned = spawned(recorder)
    with raw(tmp_path) as database:
        database.execute("UPDATE sessions SET parent = session_id")
    found = ledger.session(owned.sid)
    assert found is not None
    assert source(ledger, found) == owned.sid


def test_the_first_entry_tells_who_and_why(recorder: Recorder, ledger: Ledger) -> None:
    owned = spawned(recorder)
    assert imposed(ledger, owned.sid) is None
    stop(owned, by="hook:first")
    stop(owned, by="hook:second")
    found = imposed(ledger, owned.sid)
    assert found is not None
    assert (found.by, found.reason, found.action) == ("hook:first", "odd", "")
