"""`ghost session list` and `ghost session show`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ghost_cli.main import main
from ghost_cli.session import status_of
from ghost_core import ids
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft
from ghost_ledger.session.custody import Custody
from ghost_ledger.store import SessionRow
from support.handclock import HandClock
from support.ledger import Owned, open_recorder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = main([*words, "--json"])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    document: dict[str, Any] = json.loads(captured.out)
    return document


def text(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def spawned(capsys: pytest.CaptureFixture[str], intent: str = "deploy", *words: str) -> str:
    sid: str = run(capsys, "spawn", "--intent", intent, *words)["session_id"]
    return sid


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> Sequence[dict[str, Any]]:
    sessions: list[dict[str, Any]] = run(capsys, "session", "list", *words)["sessions"]
    return sessions


def test_without_a_ledger_there_are_no_sessions_and_none_is_made(
    capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    assert text(capsys, "session", "list") == "no sessions\n"
    assert listed(capsys) == []
    assert not (home / "ghost.db").exists()


def test_sessions_are_listed_oldest_first_without_the_token(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = spawned(capsys, "first"), spawned(capsys, "second")
    found = listed(capsys)
    assert [(each["session_id"], each["intent"]) for each in found] == [
        (first, "first"),
        (second, "second"),
    ]
    assert {each["status"] for each in found} == {"live"}
    assert 0 < found[0]["remaining_seconds"] <= 300
    assert "ghtoken_" not in json.dumps(found)


@pytest.mark.parametrize(
    ("columns", "heads"),
    [
        (200, ["SESSION", "STATUS", "LEFT", "SPAWNED", "INTENT"]),
        (80, ["SESSION", "STATUS", "LEFT", "INTENT"]),
        (56, ["SESSION", "STATUS", "INTENT"]),
    ],
)
def test_a_narrow_terminal_gets_fewer_columns_and_whole_ids(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    heads: list[str],
) -> None:
    sid = spawned(capsys, "read the mail of the week and write it down")
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["session", "list"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == heads
    assert row.startswith(f"{sid}  live")
    assert max(map(len, (head, row))) <= columns


def test_however_narrow_it_is_an_id_stays_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sid = spawned(capsys, "read the mail")
    for columns in (40, 10):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(["session", "list"]) == 0
        row = capsys.readouterr().out.splitlines()[1]
        assert row.startswith(sid[:-1])
        assert len(row) <= max(columns, len(sid))


def test_sessions_of_the_recorder_are_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    spawned(capsys)
    assert [each["system"] for each in listed(capsys)] == [False]
    assert True in [each["system"] for each in listed(capsys, "--all")]


def test_an_owned_session_is_told_from_a_waiting_one(capsys: pytest.CaptureFixture[str]) -> None:
    sid = spawned(capsys)
    assert not listed(capsys)[0]["owned"]
    with Custody.acquire(sid):
        assert listed(capsys)[0]["owned"]


def test_a_session_is_shown_with_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    made = run(capsys, "spawn", "--intent", "deploy")
    shown = run(capsys, "session", "show", made["session_id"])
    for name in ("session_id", "ephemeral_key", "verify_key", "wire_key", "expires_at", "scopes"):
        assert shown[name] == made[name]
    assert (shown["status"], shown["actions"], shown["root"]) == ("live", {}, None)


def test_actions_are_counted_by_their_status(
    capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    sid = spawned(capsys)
    with open_recorder(home) as recorder, Custody.acquire(sid) as custody:
        recorder.attach(sid, custody.key)
        owned = Owned(recorder, sid, custody.key)
        owned.act()
        owned.act()
    assert run(capsys, "session", "show", sid)["actions"] == {"executed": 2}
    assert "actions            2 executed\n" in text(capsys, "session", "show", sid)


def test_a_quarantine_is_shown_with_its_reason(
    capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    sid = spawned(capsys)
    child = spawned(capsys, "child", "--parent", sid, "--ttl", "60")
    assert run(capsys, "session", "show", sid)["quarantine"] is None
    with open_recorder(home) as recorder, Custody.acquire(sid) as custody:
        recorder.attach(sid, custody.key)
        fields: dict[str, Value] = {"by": "hook:x_pre.sh", "reason": "it looks stolen"}
        recorder.append(Draft(sid, "session.quarantined", ids.entry_id(), fields))
    shown = run(capsys, "session", "show", child)
    assert shown["quarantined"]
    assert shown["quarantine"]["session_id"] == sid
    assert shown["quarantine"]["reason"] == "it looks stolen"
    assert [each["quarantined"] for each in listed(capsys)] == [True, True]
    assert text(capsys, "session", "list").count("quarantined") == 2
    assert "hook:x_pre.sh: it looks stolen" in text(capsys, "session", "show", sid)


def test_a_session_whose_key_is_gone_is_abandoned_by_the_next_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sid = spawned(capsys)
    with Custody.acquire(sid) as custody:
        custody.folder.key.unlink()
    shown = run(capsys, "session", "show", sid)
    assert shown["status"] == "abandoned"
    assert len(shown["root"]) == 64


def test_the_text_forms_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    sid = spawned(capsys, "two\nlines \x1b[31m" + "x" * 60)
    table = text(capsys, "session", "list").splitlines()
    assert len(table) == 2
    assert sid in table[1]
    assert "two lines" in table[1]
    assert "\x1b" not in table[1]
    shown = text(capsys, "session", "show", sid)
    assert f"session_id         {sid}\n" in shown
    assert "owned              no\n" in shown
    assert "actions            -\n" in shown
    assert "scopes             -\n" in shown


def test_an_unknown_session_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["session", "show", "gh_nothing"]) == 4
    assert "not in this ledger" in capsys.readouterr().err
    spawned(capsys)
    assert main(["session", "show", "gh_nothing"]) == 4


@pytest.mark.parametrize(
    ("stored", "deadline", "shown"),
    [
        ("live", 11, "live"),
        ("live", 10, "expired"),
        ("sealed", 10, "evaporated"),
        ("abandoned", 10, "abandoned"),
    ],
)
def test_the_status_joins_what_is_stored_with_the_time(
    stored: str, deadline: int, shown: str
) -> None:
    row = SessionRow(
        session_id="gh_x",
        scope="",
        spawned_at=datetime(2026, 1, 1, tzinfo=UTC),
        ttl_seconds=1,
        scopes=[],
        status=stored,
        system=False,
        quarantined=False,
        vkey="",
        wire_key="",
        token="",
        policy="",
        expires_at=0,
        boot="b",
        deadline=deadline,
    )
    assert status_of(row, HandClock(boottime=10, boot="b")) == shown
