from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.paths import Home
from ghost_ledger.export.columns import Difference, axis
from ghost_ledger.export.replay import session_view, view_exit_code
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from support.ledger import edit, sealed


def test_no_difference_is_valid() -> None:
    assert axis(()).state == "valid"


def test_the_first_difference_is_named() -> None:
    found = axis((Difference("actions", "act_1", "status", "executed", "denied"),) * 2)
    assert found.state == "invalid"
    assert found.detail == (
        "2 differ, first actions.status of act_1: stored 'executed', signed 'denied'"
    )


def test_a_difference_is_a_plain_document() -> None:
    assert Difference("actions", "act_1", "*", "a row", None).view() == {
        "table": "actions", "id": "act_1", "column": "*", "stored": "a row", "signed": None,
    }  # fmt: skip


def test_an_edited_column_is_broken(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    sid = sealed(recorder)
    edit(tmp_path, "UPDATE actions SET http_status = 500 WHERE status = 'executed'")
    view = session_view(ledger, Home(tmp_path), sid)
    assert view_exit_code(view) == 7
    assert view["verdict"]["axes"]["columns"]["state"] == "invalid"
    assert (view["columns"][0]["stored"], view["columns"][0]["signed"]) == ("500", "200")
    assert view["actions"][0]["http_status"] == 200


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET intent = 'harmless'",
        "UPDATE sessions SET root_signature = '00'",
        "UPDATE sessions SET spawned_at = 'yesterday'",
        "UPDATE actions SET host = 'x.example'",
        "DELETE FROM actions",
        "UPDATE credentials_log SET reason = 'rotate'",
        "UPDATE entries SET type = 'run.event' WHERE type = 'action.denied'",
    ],
)
def test_any_edited_column_is_broken(
    tmp_path: Path, recorder: Recorder, ledger: Ledger, statement: str
) -> None:
    sid = sealed(recorder)
    edit(tmp_path, statement)
    view = session_view(ledger, Home(tmp_path), sid)
    assert view["verdict"]["axes"]["columns"]["state"] == "invalid"
    assert view_exit_code(view) == 7
