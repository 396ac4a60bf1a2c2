"""The commands of a session on PostgreSQL, as a user types them: from spawn to a verified replay."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import fixtures
from support.certs import Certs
from support.home import GhostHome, ghost_home
from support.mcp import raw_server
from support.postgres import PASSWORD, Server, Shared
from support.processes import free_port, possess, succeed
from support.shell import inside
from support.upstream import Upstream

pytestmark = [pytest.mark.postgres, pytest.mark.proxy]

SECONDS = 40.0
ACTIONS = {"echo": {"method": "POST", "path": "/echo", "params": "json"}}

up = fixtures.upstream("module")


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream, postgres: Server
) -> Iterator[GhostHome]:
    """A home whose database is a schema of our own on the server, empty at first."""
    url = postgres.url(postgres.database())
    tools = {"demo_api": {"actions": ACTIONS}}
    folder = tmp_path_factory.mktemp("place")
    with ghost_home(folder, up, certs, tools=tools, database={"url": url}) as made:
        yield made


def did(place: GhostHome, *words: str) -> Any:
    """Run a command in this process, which must end with 0; returns what it printed."""
    done = inside(place, *words, "--json")
    assert done.code == 0, done.err
    return done.json


def call(place: GhostHome, sid: str) -> Any:
    words = ("--tool", "demo_api", "--action", "echo", "--params", '{"n": 1}')
    return succeed(place, "act", "--session-id", sid, *words, timeout=SECONDS).json


def test_a_session_lives_and_ends_through_a_real_possess(place: GhostHome, up: Upstream):
    sid = did(place, "spawn", "--intent", "test", "--scope", "demo_api")["session_id"]
    with possess(place, "--session-id", sid):
        assert call(place, sid)["status"] == "executed"
        assert did(place, "evaporate", "--session-id", sid)["summary"]
    replay = did(place, "replay", "--session-id", sid)
    assert (replay["verified"], replay["actions_executed"]) == (True, 1)
    file = place.root / "one.ghost"
    did(place, "bundle", sid, "-o", str(file))
    assert did(place, "verify", str(file), "--key", replay["log"]["vkey"])


def test_a_call_without_an_owner_and_the_list_of_sessions(place: GhostHome):
    sid = did(place, "spawn", "--intent", "alone", "--scope", "demo_api")["session_id"]
    assert call(place, sid)["status"] == "executed"
    listed = did(place, "session", "list")["sessions"]
    assert {each["session_id"]: each["status"] for each in listed}[sid] == "live"
    did(place, "evaporate", "--session-id", sid)
    assert did(place, "replay", "--all")["verified"] is True


def test_reading_makes_no_tables(tmp_path: Path, bare: Shared):
    with ghost_home(tmp_path, database={"url": bare.url}) as home:
        done = inside(home, "replay", "--all", "--json")
        assert (done.code, done.error["code"]) == (4, "ledger.missing")
        assert did(home, "session", "list")["sessions"] == []
    assert bare.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [0]


@pytest.mark.parametrize(
    ("url", "code", "exit_code"),
    [
        ("postgresql+psycopg://ghost@127.0.0.1:{free}/ghost", "database.unreachable", 4),
        ("postgresql+psycopg://ghost@127.0.0.1:{port}/postgres", "database.login", 4),
        (f"postgresql+psycopg://ghost:{PASSWORD}@127.0.0.1/ghost", "config.value", 3),
    ],
)
def test_a_database_that_cannot_be_used_is_named_without_a_password(
    tmp_path: Path, postgres: Server, url: str, code: str, exit_code: int
):
    passwords = tmp_path / "pgpass"
    passwords.write_text("*:*:*:*:wrong-horse\n")
    passwords.chmod(0o600)
    words = ("spawn", "--intent", "x", "--scope", "demo_api", "--json")
    address = url.format(free=free_port(), port=postgres.port)
    with ghost_home(tmp_path, database={"url": address}) as home:
        done = inside(home, *words, env={"PGPASSFILE": str(passwords)})
    assert (done.code, done.error["code"]) == (exit_code, code), done.err
    assert PASSWORD not in done.out + done.err
    assert "wrong-horse" not in done.out + done.err


def test_memory_is_saved_searched_shown_and_carried_elsewhere(place: GhostHome, tmp_path: Path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pathlib.Path.cwd", lambda: place.root)
        saved = did(
            place, "memory", "save", "the staging proxy listens on 8402", "--project", "app"
        )
    assert saved
    hits = did(place, "memory", "search", "staging proxy", "--project", "app")
    assert "8402" in str(hits)
    file = place.root / "memory.json"
    did(place, "memory", "export", "-o", str(file))
    with ghost_home(tmp_path, database={"url": f"sqlite:///{tmp_path}/copy.db"}) as other:
        assert did(other, "memory", "import", str(file))
        assert "8402" in str(did(other, "memory", "search", "staging proxy", "--project", "app"))


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_memory_server_finds_by_meaning_and_the_hook_shows_it(place: GhostHome):
    text = "Log in to postgres with the password in the vault."
    with raw_server(place) as server:
        server.handshake()
        server.call("ghost_memory_save", project_id="served", content=text)
        until = time.monotonic() + 60
        while server.call("ghost_health")["structuredContent"]["embedding"]["pending"]:
            assert time.monotonic() < until
        found = server.call(
            "ghost_memory_search", project_id="served", query="database credentials"
        )
        code, _, errors = server.leave()
    assert found["structuredContent"]["memories"][0]["content"] == f"«{text}»"
    assert (code, errors) == (0, "")
    folder = place.root / "served"
    folder.mkdir()
    did(place, "project", "bind", "served", str(folder))
    shown = did(place, "context", "--cwd", str(folder))
    assert text in shown["text"]
    assert shown["shown"] == 1
