"""What both kinds of database say in the same words."""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

from ghost_core import db_backend, db_postgres, db_sqlite
from ghost_core.db_backend import Backend


def test_both_kinds_tell_all_that_the_engine_asks():
    backends: list[Backend] = [db_sqlite, db_postgres]
    asked = {name for name in vars(Backend) if not name.startswith("_")}
    for backend in backends:
        assert asked <= set(dir(backend))


def test_the_drivers_own_error_is_what_counts():
    own = sqlite3.OperationalError("locked")
    wrapped = sa.exc.DBAPIError.instance("SELECT 1", None, own, sqlite3.Error)
    assert db_backend.driver_cause(wrapped) is own
    assert db_backend.driver_cause(own) is own


def test_a_bad_address_names_what_was_expected():
    error = db_backend.bad_url("a sqlite file")
    assert (error.code, error.exit_code) == ("database.url", 3)
    assert error.message == "database.url: expected a sqlite file"


def test_foreign_tables_name_the_database():
    error = db_backend.foreign("/x/ghost.db", "a database of another program")
    assert (error.code, error.exit_code) == ("database.schema", 4)
    assert "/x/ghost.db" in error.message
