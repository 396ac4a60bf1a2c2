"""`ghost ledger erase`."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_ledger import bundle, erasing
from support.agent import program
from support.commands import Command
from support.ledger import CLOSED, intent, open_recorder, sealed, spawned

CANARY = "canary-4711-of-a-person"


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.fixture
def sid(home: Path) -> str:
    with open_recorder(home) as recorder:
        return sealed(recorder, text=CANARY)


def _files(*folders: Path) -> bytes:
    every = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return b"\0".join(path.read_bytes() for path in every)


def test_a_canary_is_in_no_file_and_in_no_export(
    ghost: Command, home: Path, tmp_path: Path
) -> None:
    with open_recorder(home) as recorder:
        owned = spawned(recorder, text=CANARY)
        recorder.append(intent(owned.sid, data=f"POST / HTTP/1.1\r\n\r\n{CANARY}".encode()))
        recorder.seal(owned.sid, CLOSED)
    shown = ghost("replay", "--session-id", owned.sid, "--disclose", code=8).out
    assert shown.count(CANARY) > 2
    assert CANARY.encode() in _files(home)
    ghost("ledger", "erase", "--session-id", owned.sid, "--basis", "request 4711")
    exports = tmp_path / "exports"
    exports.mkdir()
    for format_ in ("json", "csv", "html"):
        words = ("--format", format_, "--output", str(exports / f"a.{format_}"), "--disclose")
        ghost("replay", "--session-id", owned.sid, *words, code=8)
    ghost("bundle", owned.sid, "-o", str(exports / "a.ghost"), "--disclose")
    residue = ghost("residue", "--session-id", owned.sid).out
    assert CANARY not in residue
    assert CANARY.encode() not in _files(home, exports)
    page = (exports / "a.html").read_text("utf-8")
    assert "Erased on request" in page
    assert "request 4711" in page
    said = json.loads((exports / "a.json").read_text("utf-8"))
    assert said["intent_state"] == "erased"
    assert said["erased"][0]["basis"] == "request 4711"


def test_what_was_erased_is_said(ghost: Command, sid: str) -> None:
    said = ghost("ledger", "erase", "--session-id", sid, "--basis", "request", "--json").json
    assert said["schema"] == "ghost/erasure/v1"
    assert [each["fields"] for each in said["erased"]] == [["intent"], ["params"], ["response"]]
    assert (said["erased_before"], said["key_destroyed"]) == ([], True)
    assert said["actor"] == pwd.getpwuid(os.getuid()).pw_name
    again = ghost("ledger", "erase", "--session-id", sid, "--basis", "request", "--json").json
    assert (again["erased"], again["erased_before"]) == ([], said["erased"])


def test_a_text_says_the_same(ghost: Command, sid: str) -> None:
    words = ("ledger", "erase", "--session-id", sid, "--basis", "request", "--field", "params")
    first = ghost(*words).out
    assert first.startswith(f"erased 1 payload of {sid}\n")
    assert "sha256_" in first
    assert "erased before: 1" in ghost(*words).out
    rest = ghost("ledger", "erase", "--session-id", sid, "--basis", "request").out
    assert "the data key of the session is destroyed" in rest


def test_the_session_still_verifies(ghost: Command, sid: str, tmp_path: Path) -> None:
    ghost("bundle", sid, "-o", "before.ghost", "--disclose")
    key = ghost("session", "show", sid, "--json").json["verify_key"]
    ghost("ledger", "erase", "--session-id", sid, "--basis", "request")
    said = ghost("bundle", sid, "-o", "after.ghost", "--disclose", "--json").json
    assert [each["fields"] for each in said["erased"]] == [["intent"], ["params"], ["response"]]
    assert "3 payloads of it erased" in ghost("bundle", sid, "-o", "after.ghost", "--disclose").out
    for name in ("before.ghost", "after.ghost"):
        ghost("verify", name, "--key", key)
    before, after = (
        bundle.decode((tmp_path / name).read_bytes()) for name in ("before.ghost", "after.ghost")
    )
    assert (len(before.disclosures), len(after.disclosures)) == (3, 0)
    assert before.entries == after.entries
    ghost("replay", "--session-id", sid)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--session-id", "gh_" + "0" * 32, "--basis", "x"), 4, "session.unknown"),
        (("--basis", "x"), 2, "usage"),
        (("--session-id", "gh_" + "0" * 32), 2, "usage"),
    ],
    ids=["unknown", "no-session", "no-basis"],
)
def test_a_wrong_command_line_is_refused(
    ghost: Command, sid: str, words: tuple[str, ...], code: int, says: str
) -> None:
    assert sid
    said = ghost("ledger", "erase", *words, "--json", code=code)
    assert json.loads(said.err)["code"].startswith(says)


def test_without_a_ledger_none_is_made(ghost: Command, home: Path) -> None:
    said = ghost("ledger", "erase", "--session-id", "gh_" + "0" * 32, "--basis", "x", code=4)
    assert "does not exist yet" in said.err
    assert not (home / "ghost.db").exists()


def test_a_home_that_cannot_be_written_is_exit_4_and_nothing_is_erased(
    sid: str, home: Path
) -> None:
    bounded = [program("setpriv"), "--bounding-set", "-all", "--inh-caps", "-all"]
    words = ["ledger", "erase", "--session-id", sid, "--basis", "x", "--json"]
    for path in (home, *home.iterdir()):
        path.chmod(path.stat().st_mode & 0o555)
    done = subprocess.run(
        [*(bounded if os.getuid() == 0 else []), sys.executable, "-m", "ghost_cli", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    home.chmod(0o700)
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["code"] == "database.unwritable"
    assert CANARY.encode() in _files(home)


def test_an_agent_in_a_session_cannot_erase(
    ghost: Command, sid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_SESSION_ID", sid)
    words = ("ledger", "erase", "--session-id", sid, "--basis", "x", "--json")
    assert json.loads(ghost(*words, code=5).err)["code"] == "session.inside"


def test_a_rewrite_that_failed_is_told_of_and_a_second_call_finishes(
    ghost: Command, sid: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("ledger", "erase", "--session-id", sid, "--basis", "x")

    def locked(_: object) -> None:
        raise UnavailableError("another process holds its lock", code="database.locked")

    with monkeypatch.context() as patch:
        patch.setattr(erasing, "scrub", locked)
        said = ghost(*words, code=4)
    assert "erased and entered" in said.err
    assert "the same command again finishes it" in said.err
    assert "erased before: 3" in ghost(*words).out
    assert CANARY.encode() not in _files(home)
