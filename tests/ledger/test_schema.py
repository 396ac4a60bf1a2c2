"""The guards that must be there before anything is appended."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_core.migrations.guards import SQLITE_GUARDS
from ghost_ledger.schema import check_guards
from support.ledger import script, url_of


def _check(folder: Path) -> None:
    engine = db.engine(url_of(folder))
    with db.read(engine) as connection:
        check_guards(connection)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    db.migrate(db.engine(url_of(tmp_path)))
    return tmp_path


def test_a_migrated_database_has_its_guards(folder: Path):
    _check(folder)


@pytest.mark.parametrize("name", SQLITE_GUARDS)
def test_a_missing_guard_is_named(folder: Path, name: str):
    script(folder, f"DROP TRIGGER {name}")
    with pytest.raises(IntegrityError, match=name) as caught:
        _check(folder)
    assert caught.value.code == "ledger.triggers"


@pytest.mark.parametrize("name", SQLITE_GUARDS)
def test_a_guard_that_was_hollowed_out_is_named(folder: Path, name: str):
    event = name.removeprefix("entries_").upper()
    script(
        folder,
        f"DROP TRIGGER {name}; CREATE TRIGGER {name} BEFORE {event} ON entries BEGIN SELECT 1; END",
    )
    with pytest.raises(IntegrityError, match=name):
        _check(folder)


def test_a_foreign_trigger_on_entries_is_named(folder: Path):
    script(
        folder,
        "CREATE TRIGGER sink BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
    )
    with pytest.raises(IntegrityError, match="sink"):
        _check(folder)
