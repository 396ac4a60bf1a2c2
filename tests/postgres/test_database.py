"""`ghost database` on a server: roles with exactly their rights, with which the product works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support import fixtures
from support.certs import Certs
from support.home import GhostHome, ghost_home
from support.postgres import Shared
from support.processes import Outcome
from support.shell import inside
from support.upstream import Upstream

pytestmark = [pytest.mark.postgres, pytest.mark.proxy]

ACTIONS = {"echo": {"method": "POST", "path": "/echo", "params": "json"}}
ECHO = ("--tool", "demo_api", "--action", "echo", "--params", '{"n": 1}')
TAKEN_BACK = (
    "UPDATE entries SET sid = 'x'",
    "DELETE FROM entries",
    "TRUNCATE entries",
    "DELETE FROM payloads",
    "DELETE FROM payload_keys",
    "DELETE FROM sessions",
    "ALTER TABLE entries DISABLE TRIGGER ALL",
    "DROP TABLE entries",
    "SET session_replication_role = replica",
    "UPDATE alembic_version SET version_num = '9'",
)

up = fixtures.upstream("module")


@pytest.fixture
def place(tmp_path: Path, certs: Certs, up: Upstream, bare: Shared) -> Iterator[GhostHome]:
    tools = {"demo_api": {"actions": ACTIONS}}
    with ghost_home(tmp_path, up, certs, tools=tools, database={"url": bare.url}) as made:
        yield made


type Acting = Callable[..., Outcome]


@pytest.fixture
def acting_as(place: GhostHome, bare: Shared) -> Acting:
    """Run a command of the home as another role of its server."""

    def run(role: str, *words: str) -> Outcome:
        url = bare.url.replace("ghost@", f"{role}@")
        return inside(place, *words, "--json", env={"GHOST_DATABASE__URL": url})

    return run


def did(outcome: Outcome) -> Any:
    assert outcome.code == 0, outcome.err
    return outcome.json


def initialised(place: GhostHome, bare: Shared) -> tuple[str, str]:
    """Make the tables and two roles of this database's own; roles are the whole server's."""
    names = f"rec_{bare.name}", f"read_{bare.name}"
    found = did(
        inside(place, "database", "init", "--recorder", names[0], "--reader", names[1], "--json")
    )
    assert found["roles"] == {
        names[0]: {"kind": "recorder", "made": True},
        names[1]: {"kind": "reader", "made": True},
    }
    return names


def refused(bare: Shared, role: str, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        bare.run(f"SET ROLE {role}", statement)


def test_a_recorder_runs_sessions_and_memory_and_takes_nothing_back(
    place: GhostHome, bare: Shared, acting_as: Acting
) -> None:
    recorder, _ = initialised(place, bare)
    sid = did(acting_as(recorder, "spawn", "--intent", "x", "--scope", "demo_api"))
    words = ("--session-id", sid["session_id"])
    assert did(acting_as(recorder, "act", *words, *ECHO))["status"] == "executed"
    saved = acting_as(recorder, "memory", "save", "the port is 8402", "--project", "app")
    assert did(saved)["id"]
    assert did(acting_as(recorder, "evaporate", *words))["summary"]
    assert did(acting_as(recorder, "replay", *words))["verified"] is True
    for statement in TAKEN_BACK:
        refused(bare, recorder, statement)


def test_a_reader_verifies_and_writes_nothing(
    place: GhostHome, bare: Shared, acting_as: Acting
) -> None:
    recorder, reader = initialised(place, bare)
    sid = did(acting_as(recorder, "spawn", "--intent", "x", "--scope", "demo_api"))
    words = ("--session-id", sid["session_id"])
    did(acting_as(recorder, "evaporate", *words))
    assert did(acting_as(reader, "replay", *words))["verified"] is True
    listed = did(acting_as(reader, "session", "list"))["sessions"]
    assert [each["session_id"] for each in listed] == [sid["session_id"]]
    assert acting_as(reader, "spawn", "--intent", "x").error["code"] == "database.guarded"
    for statement in (*TAKEN_BACK, "TABLE vault", "DELETE FROM memories"):
        refused(bare, reader, statement)


def test_a_second_time_nothing_is_made_and_what_was_given_beside_is_taken(
    place: GhostHome, bare: Shared, acting_as: Acting
) -> None:
    recorder, reader = initialised(place, bare)
    bare.run(f"GRANT DELETE ON entries TO {reader}", f"REVOKE INSERT ON entries FROM {recorder}")
    bare.run("GRANT UPDATE ON entries TO PUBLIC")
    words = ("--recorder", recorder, "--reader", reader)
    roles = did(inside(place, "database", "init", *words, "--json"))["roles"]
    assert [each["made"] for each in roles.values()] == [False, False]
    assert rights(bare, recorder) == {"SELECT", "INSERT"}
    assert rights(bare, reader) == {"SELECT"}


def rights(bare: Shared, role: str) -> set[str]:
    """Return what a role may do to `entries`, by itself or as everybody."""
    named = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE")
    return {
        each
        for each in named
        if bare.run(f"SELECT has_table_privilege('{role}', 'entries', '{each}')")[0]
    }


def test_an_upgrade_keeps_the_kinds_of_roles(
    place: GhostHome, bare: Shared, acting_as: Acting
) -> None:
    recorder, reader = initialised(place, bare)
    bare.run(f"REVOKE ALL ON memories FROM {recorder}, {reader}")
    roles = did(inside(place, "database", "upgrade", "--json"))["roles"]
    assert {name: each["kind"] for name, each in roles.items()} == {
        recorder: "recorder",
        reader: "reader",
    }
    bare.run(f"SET ROLE {recorder}", "DELETE FROM memories")
    bare.run(f"SET ROLE {reader}", "TABLE memories")


@pytest.mark.parametrize("mighty", ["ghost", "{name}_super", "{name}_member"])
def test_a_role_that_no_grant_limits_is_refused(
    place: GhostHome, bare: Shared, mighty: str
) -> None:
    name = mighty.format(name=bare.name)
    bare.run(
        f"CREATE ROLE {bare.name}_super LOGIN SUPERUSER",
        f"CREATE ROLE {bare.name}_member LOGIN IN ROLE ghost",
    )
    done = inside(place, "database", "init", "--recorder", name, "--json")
    assert (done.code, done.error["code"]) == (2, "database.role")
    assert not bare.run("SELECT 1 FROM pg_roles WHERE rolname = 'ghost_reader'")


def test_an_owner_that_may_make_no_roles_is_told(
    place: GhostHome, bare: Shared, acting_as: Acting
) -> None:
    bare.run(
        f"CREATE ROLE own_{bare.name} LOGIN", f"ALTER DATABASE {bare.name} OWNER TO own_{bare.name}"
    )
    bare.run(f"ALTER SCHEMA public OWNER TO own_{bare.name}")
    done = acting_as(f"own_{bare.name}", "database", "init", "--recorder", f"no_{bare.name}")
    assert (done.code, done.error["code"]) == (5, "database.guarded")
    assert acting_as(f"own_{bare.name}", "database", "upgrade").code == 0
