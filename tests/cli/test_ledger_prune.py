"""`ghost ledger prune`."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_ledger import pruning
from support.commands import Command
from support.ledger import open_recorder, rows
from support.pruning import CANARY, Grown, grown

NOW = ("ledger", "prune", "--days", "0", "--allow-short")


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Grown]:
    folder = tmp_path_factory.mktemp("prune")
    with open_recorder(folder) as recorder:
        return folder, grown(recorder)


@pytest.fixture
def sids(made: tuple[Path, Grown], home: Path) -> Grown:
    shutil.copytree(made[0], home, dirs_exist_ok=True)
    return made[1]


def _holds(home: Path) -> bool:
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    return CANARY.encode() in b"\0".join(files)


def test_what_would_go_is_said_and_nothing_goes(ghost: Command, sids: Grown, home: Path) -> None:
    count = rows(home, "SELECT count(*) FROM entries")
    said = ghost(*NOW, "--dry-run", "--json").json
    assert (said["schema"], said["dry_run"]) == ("ghost/pruning/v1", True)
    assert (said["old_minimum"], said["new_minimum"], said["entries"]) == (0, 256, sids.entries)
    assert (set(said["sessions"]), said["pruned_by"]) == (set(sids.gone), [])
    text = ghost(*NOW, "--dry-run").out
    assert text.startswith(f"would prune {sids.entries} entries and 5 payloads of 4 sessions below")
    assert rows(home, "SELECT count(*) FROM entries") == count
    assert _holds(home)


def test_the_rest_of_the_product_goes_on(ghost: Command, sids: Grown, home: Path) -> None:
    gone, key = sids.gone[0], ghost("session", "show", sids.gone[0], "--json").json["verify_key"]
    ghost("bundle", gone, "-o", "before.ghost")
    said = ghost(*NOW).out
    assert f"pruned {sids.entries} entries" in said
    assert "the entry that says so: sha256_" in said
    assert not _holds(home)
    for words in (
        ("replay", "--session-id", gone),
        ("bundle", gone, "-o", "after.ghost"),
        ("residue", "--session-id", gone),
        ("ledger", "export", "--session-id", gone),
        ("ledger", "erase", "--session-id", gone, "--basis", "x"),
    ):
        error = json.loads(ghost(*words, "--json", code=4).err.splitlines()[-1])
        assert error["code"] == "ledger.pruned", words
        assert "says log.pruned at idx " in error["message"]
    ghost("verify", "before.ghost", "--key", key)
    assert ghost("session", "show", gone, "--json").json["status"] == "evaporated"
    whole = ghost("ledger", "verify", "--json").json
    assert whole["pruned"] == {"entries": sids.entries, "below": 256}
    assert "pruned below 256" in ghost("ledger", "verify").out


def test_a_view_of_all_shows_what_is_there_and_counts_the_rest(ghost: Command, sids: Grown) -> None:
    ghost(*NOW)
    expected = {"entries": sids.entries, "sessions": 4, "below": 256}
    seen = ghost("replay", "--all", code=8)
    assert seen.json["pruned"] == expected
    assert f"4 older sessions are not shown: {sids.entries} entries below idx 256" in seen.err
    assert {each["session_id"] for each in seen.json["sessions"]}.isdisjoint(sids.gone)
    ends = {each["session_id"]: each["verdict"]["exit_code"] for each in seen.json["sessions"]}
    assert ends.pop(sids.unended) == 8
    assert set(ends.values()) == {0}
    page = ghost("replay", "--all", "--format", "html", code=8).out
    assert "4 older ones were pruned." in page
    assert "Entries are missing" not in page
    assert ghost("residue").json["pruned"] == expected
    assert "are not shown" in ghost("ledger", "export", code=8).err


def test_once_more_is_no_mistake(ghost: Command, sids: Grown) -> None:
    first = ghost(*NOW, "--json").json
    again = ghost(*NOW, "--json").json
    assert (again["entries"], again["sessions"], again["pruned_by"]) == (0, [], [])
    assert again["pruned_before"] == [
        {"entries": sids.entries, "below": 256, "pruned_by": first["pruned_by"][0]}
    ]
    assert f"pruned before: {sids.entries} entries" in ghost(*NOW).out


def test_without_a_word_half_a_year_stays(ghost: Command, sids: Grown) -> None:
    assert sids.gone
    assert ghost("ledger", "prune").out.startswith("nothing to prune before ")
    assert ghost("ledger", "prune", "--days", "5000").out.startswith("nothing to prune before ")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--days", "182"), "usage.retention"),
        (("--before", f"{datetime.now(UTC) - timedelta(days=100):%Y-%m-%d}"), "usage.retention"),
        (("--days", "200", "--before", "2020-01-01"), "usage.retention"),
        (("--days", "-1"), "usage.days"),
        (("--before", "yesterday"), "usage.date"),
        (("--before", "2999-01-01", "--allow-short"), "usage.date"),
    ],
    ids=["days", "before", "both", "negative", "word", "future"],
)
def test_a_shorter_retention_is_refused_without_a_flag(
    ghost: Command, sids: Grown, words: tuple[str, ...], code: str
) -> None:
    assert sids.gone
    error = json.loads(ghost("ledger", "prune", *words, "--json", code=2).err)
    assert error["code"] == code
    if words[0] != "--days" or len(words) > 2 or code != "usage.retention":
        return
    assert "183 days" in error["message"]
    assert "--allow-short" in error["hint"]


def test_a_day_long_ago_is_taken(ghost: Command, sids: Grown) -> None:
    assert sids.gone
    said = ghost("ledger", "prune", "--before", "2020-01-01", "--json").json
    assert (said["kept_from"], said["entries"]) == ("2020-01-01T00:00:00Z", 0)


def test_an_agent_in_a_session_cannot_prune(
    ghost: Command, sids: Grown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_SESSION_ID", sids.unended)
    assert json.loads(ghost(*NOW, "--json", code=5).err)["code"] == "session.inside"


def test_a_rewrite_that_failed_is_told_of_and_a_second_call_finishes(
    ghost: Command, sids: Grown, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(_: object) -> None:
        raise UnavailableError("another process holds its lock", code="database.locked")

    with monkeypatch.context() as patch:
        patch.setattr(pruning, "scrub", locked)
        said = ghost(*NOW, code=4)
    assert "pruned and entered" in said.err
    assert "the same command again finishes it" in said.err
    assert f"pruned before: {sids.entries}" in ghost(*NOW).out
    assert not _holds(home)


def test_without_a_ledger_none_is_made(ghost: Command, home: Path) -> None:
    assert "does not exist yet" in ghost("ledger", "prune", code=4).err
    assert not (home / "ghost.db").exists()
