"""All sessions, and the one verdict on them."""

from __future__ import annotations

from pathlib import Path

from ghost_core import ids
from ghost_core.paths import Home
from ghost_ledger.canonical import Value
from ghost_ledger.export.replay import all_view, view_exit_code
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Draft, Recorder
from support.ledger import (
    edit,
    open_recorder,
    sealed,
    spawned,
)


def test_all_sessions_come_oldest_first(tmp_path: Path, recorder: Recorder, ledger: Ledger) -> None:
    first, second = sealed(recorder), sealed(recorder)
    view = all_view(ledger, Home(tmp_path))
    assert [session["session_id"] for session in view["sessions"]] == [first, second]
    assert (view["verified"], view_exit_code(view)) == (True, 0)


def test_one_open_session_makes_the_history_incomplete(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sealed(recorder)
    spawned(recorder)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 8


def test_an_empty_history_is_no_pass(tmp_path: Path, ledger: Ledger) -> None:
    view = all_view(ledger, Home(tmp_path))
    assert (view["sessions"], view["verified"], view_exit_code(view)) == ([], False, 8)


def _remember(recorder: Recorder) -> str:
    """Enter a change of memory outside any session; return the session of the recorder."""
    said: dict[str, Value] = {"memory": "m1", "change": "memory.saved"}
    recorder.change(lambda _: (None, [Draft("", "memory.changed", ids.entry_id(), said)]))
    return recorder.system()


def test_memory_alone_is_a_history_once_the_recorder_has_sealed_it(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    system = _remember(recorder)
    view = all_view(ledger, Home(tmp_path))
    assert (view["verified"], view_exit_code(view)) == (False, 8)
    recorder.close()
    view = all_view(ledger, Home(tmp_path))
    assert (view["sessions"], view["verified"], view_exit_code(view)) == ([], True, 0)
    assert view["recorder"]["memory_changes"] == 1
    assert view["recorder"]["verified"] == view["recorder"]["sessions"]
    with open_recorder(tmp_path) as running:  # as a server of memory does all day
        _remember(running)
        view = all_view(ledger, Home(tmp_path))
        assert (view["verified"], view["recorder"]["memory_changes"]) == (True, 2)
    edit(tmp_path, "UPDATE entries SET body = x'00' WHERE seq = 1 AND sid = ?", system)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 7


def test_a_session_hidden_from_the_columns_is_still_listed(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    sid = sealed(recorder)
    for table in ("actions", "credentials_log", "sessions"):
        edit(tmp_path, f"DELETE FROM {table} WHERE session_id = ?", sid)
    view = all_view(ledger, Home(tmp_path))
    assert [session["session_id"] for session in view["sessions"]] == [sid]
    assert view_exit_code(view) == 7


def test_an_edited_session_of_the_recorder_breaks_the_history(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    system = recorder.system()
    sealed(recorder)
    recorder.close()
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 0
    edit(tmp_path, "UPDATE entries SET body = x'00' WHERE seq = 1 AND sid = ?", system)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 7


def test_a_session_that_was_made_the_recorders_own_breaks_the_history(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    hidden = sealed(recorder)
    sealed(recorder)
    statement = (
        "UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '\"token\":',"
        ' \'"system":true,"token":\') AS BLOB) WHERE seq = 0 AND sid = ?'
    )
    edit(tmp_path, statement, hidden)
    view = all_view(ledger, Home(tmp_path))
    assert hidden not in [session["session_id"] for session in view["sessions"]]
    assert (view["verified"], view_exit_code(view)) == (False, 7)


def test_a_session_cut_out_of_the_log_breaks_the_history(
    tmp_path: Path, recorder: Recorder, ledger: Ledger
) -> None:
    first, _ = sealed(recorder), sealed(recorder)
    for table in ("payloads",):
        edit(
            tmp_path,
            f"DELETE FROM {table} WHERE entry_idx IN (SELECT idx FROM entries WHERE sid = ?)",
            first,
        )
    for column, table in (
        ("session_id", "actions"),
        ("session_id", "credentials_log"),
        ("sid", "entries"),
        ("session_id", "sessions"),
    ):
        edit(tmp_path, f"DELETE FROM {table} WHERE {column} = ?", first)
    assert view_exit_code(all_view(ledger, Home(tmp_path))) == 7
