"""Sessions can be listed and ended with a configuration that is broken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_cli import salvage
from ghost_cli.main import main
from ghost_core import trust
from ghost_core.errors import ConfigError
from ghost_core.paths import Home
from support.certs import Certs
from support.home import GhostHome, ghost_home
from support.processes import possess
from support.shell import inside, spawn, types

BROKEN = "[proxy"


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[GhostHome]:
    """A home without an upstream: nothing is called."""
    with ghost_home(tmp_path) as made:
        yield made


@pytest.mark.proxy
def test_with_a_living_owner_sessions_end_while_the_file_is_no_toml(
    tmp_path: Path, certs: Certs
) -> None:
    with ghost_home(tmp_path, certs=certs) as place:
        owned, left = spawn(place), spawn(place)
        with possess(place, "--session-id", owned.sid):
            place.append(BROKEN)
            listed = inside(place, "session", "list")
            assert (listed.code, owned.sid in listed.out) == (0, True)
            assert "is no TOML" in listed.err
            for each in (left, owned):  # one that nobody owns, in the database that an owner knows
                done = inside(place, "evaporate", "--session-id", each.sid)
                assert done.code == 0, done.err
                assert done.json["status"] == "evaporated"
                assert types(place, each)[-1] == "session.seal"


def test_without_an_owner_a_database_that_cannot_be_known_is_a_broken_configuration(
    alone: GhostHome,
) -> None:
    session = spawn(alone)
    alone.append(BROKEN)
    for words in (("evaporate", "--session-id", session.sid), ("session", "list")):
        done = inside(alone, "--json", *words)
        assert (done.code, done.error["code"]) == (3, "config.syntax")


@pytest.mark.parametrize("text", ["[proxi]\nport = 1", "[session]\nttl_seconds = 0"])
def test_a_file_that_still_says_where_the_database_is_will_do(alone: GhostHome, text: str) -> None:
    session = spawn(alone)
    alone.config.write_text(f'[database]\nurl = "sqlite:///{alone.root}/ghost.db"\n{text}\n')
    assert session.sid in inside(alone, "session", "list").out
    done = inside(alone, "evaporate", "--session-id", session.sid)
    assert (done.code, "webhooks and triggers hear nothing" in done.err) == (0, True)
    assert types(alone, session)[-1] == "session.seal"


@pytest.fixture
def clone(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Home(home).ensure()
    folder = tmp_path / "clone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder / "ghost.toml"


@pytest.mark.parametrize("text", [BROKEN, '[proxy]\nscrub = "never"\n', "rules = 5\n"])
def test_a_clone_with_a_broken_file_keeps_nobody_from_ending_a_session(
    clone: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spawn", "--intent", "x"]) == 0
    sid = capsys.readouterr().out.partition("gh_")[2][:32]
    clone.write_text(text)
    assert main(["session", "list"]) == 0
    assert main(["evaporate", "--session-id", f"gh_{sid}"]) == 0


def test_a_trusted_file_that_moves_the_database_is_not_passed_over(clone: Path, home: Path) -> None:
    clone.write_text('[database]\nurl = "nowhere"\n')
    trust.record(Home(home), clone, clone.read_bytes())
    with pytest.raises(ConfigError):
        salvage.opened()
