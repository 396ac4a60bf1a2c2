"""Putting a log aside: a copy as it was, empty tables with their guards, and nothing else touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import aside, schema, store
from support.ledger import open_recorder, rows, script, sealed, url_of

ORIGIN = "ghost.local/one/../two"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_recorder(tmp_path) as recorder:
        sealed(recorder)
    return tmp_path


def _put(folder: Path) -> Path:
    engine = db.engine(url_of(folder), home=Home(folder))
    try:
        with db.write(engine) as connection:
            return aside.put(connection, engine, ORIGIN)
    finally:
        engine.dispose()


def test_every_table_of_the_ledger_starts_anew() -> None:
    classes = (getattr(store, name) for name in store.__all__ if name.endswith("Row"))
    assert sorted(aside.TABLES) == sorted(str(each.__tablename__) for each in classes)


def test_the_tables_are_empty_and_guarded_and_the_copy_is_full(folder: Path) -> None:
    before = {table: rows(folder, f"SELECT count(*) FROM {table}") for table in aside.TABLES}
    path = _put(folder)
    assert path.name == "ghost-two.db"
    assert all(rows(folder, f"SELECT count(*) FROM {table}") == [0] for table in aside.TABLES)
    engine = db.engine(url_of(folder))
    with db.read(engine) as connection:
        schema.check_guards(connection)
    engine.dispose()
    (folder / "ghost.db").unlink()
    path.rename(folder / "ghost.db")
    after = {table: rows(folder, f"SELECT count(*) FROM {table}") for table in aside.TABLES}
    assert after == before


def test_a_name_that_is_taken_is_left_alone(folder: Path) -> None:
    taken = folder / "ghost-two.db"
    taken.write_text("mine")
    assert _put(folder).name == "ghost-two-2.db"
    assert taken.read_text() == "mine"


def test_a_copy_that_cannot_be_made_empties_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(folder, "SELECT count(*) FROM entries")

    def full(*_: object) -> None:
        raise IntegrityError("damaged", code="database.corrupt")

    monkeypatch.setattr(db, "copy", full)
    with pytest.raises(IntegrityError):
        _put(folder)
    assert rows(folder, "SELECT count(*) FROM entries") == before


def test_a_database_without_its_guards_is_not_emptied(folder: Path) -> None:
    script(folder, "DROP TRIGGER entries_delete")
    before = rows(folder, "SELECT count(*) FROM entries")
    with pytest.raises(IntegrityError) as caught:
        _put(folder)
    assert caught.value.code == "ledger.triggers"
    assert rows(folder, "SELECT count(*) FROM entries") == before
