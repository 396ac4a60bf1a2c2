"""`ghost database` on SQLite; its roles are tried on a server, in tests/postgres."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ghost_core.migrations import HEAD
from support.commands import Command
from support.ledger import script


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def test_a_database_is_made_once(ghost: Command, home: Path) -> None:
    file = home / "ghost.db"
    assert ghost("database", "init").out == f"database {file}: made, revision {HEAD}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = ghost("database", "init", "--json").json
    assert (found["schema"], found["before"], found["revision"], found["roles"]) == (
        "ghost/database/v1",
        HEAD,
        HEAD,
        {},
    )
    assert "up to date" in ghost("database", "upgrade").out


def test_a_database_of_another_program_is_left_alone(ghost: Command, home: Path) -> None:
    ghost("database", "init")
    script(home, "DROP TABLE alembic_version")
    said = ghost("database", "upgrade", "--json", code=4)
    assert '"database.schema"' in said.err


def test_where_nothing_is_there_is_nothing_to_upgrade(ghost: Command, home: Path) -> None:
    said = ghost("database", "upgrade", "--json", code=4)
    assert '"database.missing"' in said.err
    assert not home.exists()


@pytest.mark.parametrize("option", ["--recorder", "--reader"])
def test_a_file_has_no_roles(ghost: Command, home: Path, option: str) -> None:
    said = ghost("database", "init", option, "somebody", "--json", code=2)
    assert '"database.roles"' in said.err
    assert not (home / "ghost.db").exists()
