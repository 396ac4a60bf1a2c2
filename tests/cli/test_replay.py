"""`ghost replay`: the view in three forms, with its exit code."""

from __future__ import annotations

import csv
import io
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from ghost_cli.main import main
from ghost_core import ids
from ghost_core.paths import runtime_dir
from support.ledger import edit, open_recorder, sealed, spawned


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that is not the repository."""
    monkeypatch.chdir(tmp_path)


def _sealed(home: Path, *, text: str = "deploy") -> str:
    with open_recorder(home) as recorder:
        return sealed(recorder, text=text)


def _open(home: Path) -> str:
    with open_recorder(home) as recorder:
        owned = spawned(recorder)
        owned.act()
    return owned.sid


def _break(home: Path) -> None:
    edit(home, "UPDATE entries SET sig = zeroblob(64) WHERE type = 'action.denied'")


def _json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_sealed_session_is_printed_and_verified(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid = _sealed(home)
    assert main(["replay", "--session-id", sid]) == 0
    view = _json(capsys)
    assert (view["session_id"], view["intent"], view["verified"]) == (sid, "deploy", True)
    assert [action["status"] for action in view["actions"]] == ["executed", "denied"]


def test_an_open_session_is_printed_and_incomplete(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--session-id", _open(home)]) == 8
    assert _json(capsys)["verified"] is False


def test_a_broken_session_is_printed_and_broken(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid = _sealed(home)
    _break(home)
    assert main(["replay", "--session-id", sid]) == 7
    view = _json(capsys)
    assert view["verdict"]["axes"]["signatures"]["state"] == "invalid"


def test_the_session_of_the_environment_is_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sid = _sealed(home)
    monkeypatch.setenv("GHOST_SESSION_ID", sid)
    assert main(["replay"]) == 0
    assert _json(capsys)["session_id"] == sid


def test_all_sessions_come_oldest_first(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = _sealed(home), _sealed(home)
    assert main(["replay", "--all"]) == 0
    view = _json(capsys)
    assert [session["session_id"] for session in view["sessions"]] == [first, second]
    assert view["verified"] is True


@pytest.mark.parametrize("option", ["--format", "--output-format"])
def test_csv_has_a_row_for_each_action(
    home: Path, option: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    sid = _sealed(home, text='=cmd|"/C calc"!A0')
    assert main(["replay", "--session-id", sid, option, "csv"]) == 0
    text = capfdbinary.readouterr().out.decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["status"] for row in rows] == ["executed", "denied"]
    assert rows[0]["intent"] == '\'=cmd|"/C calc"!A0'
    assert text.count("\r\n") == 3


def test_html_is_one_page(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    sid = _sealed(home, text="<script>alert(1)</script>")
    assert main(["replay", "--session-id", sid, "--format", "html"]) == 0
    text = capfdbinary.readouterr().out.decode("utf-8")
    assert text.startswith("<!doctype html>")
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<strong>Verified</strong>" in text


def test_all_as_html_has_an_index(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    _sealed(home)
    _open(home)
    assert main(["replay", "--all", "--format", "html"]) == 8
    assert b"2 sessions" in capfdbinary.readouterr().out


def test_an_exit_code_that_is_not_0_is_explained_beside_the_file(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid, rest = _open(home), ["--format", "csv", "-o", str(tmp_path / "a.csv")]
    assert main(["replay", "--session-id", sid, *rest]) == 8
    printed = capsys.readouterr().err.splitlines()
    assert printed[-1].startswith("exit 8: Incomplete. The session is not sealed: more may follow")
    assert main(["replay", "--all", *rest]) == 8
    assert "exit 8: not every session is verified" in capsys.readouterr().err


def test_a_file_is_private_and_stdout_empty(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid, path = _sealed(home), tmp_path / "audit.json"
    assert main(["replay", "--session-id", sid, "--output", str(path)]) == 0
    assert json.loads(path.read_text("utf-8"))["session_id"] == sid
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "a view, not evidence" in captured.err


@pytest.mark.parametrize("form", ["json", "csv", "html"])
def test_a_view_replaces_one_of_its_form_and_nothing_else(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    sid, path = _sealed(home), tmp_path / "view"
    one, every = ["--session-id", sid], ["--all"]
    for which in (one, every, one):
        assert main(["replay", *which, "--format", form, "-o", str(path)]) == 0
    seen = path.read_bytes()
    for other in {"json", "csv", "html"} - {form}:
        assert main(["replay", *one, "--format", other, "-o", str(path)]) == 4
    assert path.read_bytes() == seen
    assert "remove it, or name another file" in capsys.readouterr().err


def test_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    sid, target, link = _sealed(home), tmp_path / "target", tmp_path / "link"
    target.write_text("mine")
    link.symlink_to(target)
    assert main(["replay", "--session-id", sid, "--output", str(link)]) == 4
    assert target.read_text() == "mine"


def test_disclosed_payloads_come_with_their_salt(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--session-id", _sealed(home), "--disclose"]) == 0
    fields = {item["field"]: item for item in _json(capsys)["actions"][0]["disclosures"]}
    assert fields["response"]["data"] == '{"ok":true}'
    assert len(fields["response"]["salt"]) == 64


def test_another_session_is_compared(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = _sealed(home), _sealed(home, text="other")
    assert main(["replay", "--session-id", second, "--against", first]) == 0
    comparison = _json(capsys)["comparison"]
    assert (comparison["session_id"], comparison["same"]) == (first, False)


def test_a_foreign_key_is_broken(home: Path, tmp_path: Path) -> None:
    sid = _sealed(home)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    with open_recorder(elsewhere) as recorder:
        key = recorder.log_vkey
    assert main(["replay", "--session-id", sid, "--key", key]) == 7


def test_an_unknown_session_is_missing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _sealed(home)
    assert main(["replay", "--session-id", ids.session_id(), "--json"]) == 4
    assert json.loads(capsys.readouterr().err)["code"] == "session.unknown"


def test_a_home_without_ledger_is_missing_and_stays_empty(home: Path) -> None:
    assert main(["replay", "--all"]) == 4
    assert not (home / "ghost.db").exists()


def test_no_session_is_a_usage_error(home: Path) -> None:
    _sealed(home)
    assert main(["replay"]) == 2


def test_all_cannot_be_compared(home: Path) -> None:
    assert main(["replay", "--all", "--against", _sealed(home)]) == 2


def test_a_session_whose_key_was_lost_is_written_off_first(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid = _open(home)
    (runtime_dir() / sid).mkdir(mode=0o700)
    assert main(["replay", "--session-id", sid]) == 8
    view = _json(capsys)
    assert view["status"] == "abandoned"
    assert view["verdict"]["axes"]["columns"]["state"] == "valid"


def test_a_ledger_that_cannot_be_written_any_more_is_still_shown(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid = _open(home)
    (runtime_dir() / sid).mkdir(mode=0o700)
    (home / "keys" / "log_key").unlink()
    assert main(["replay", "--session-id", sid]) == 8
    captured = capsys.readouterr()
    assert "warning: sessions that ended could not be sealed" in captured.err
    assert json.loads(captured.out)["session_id"] == sid
