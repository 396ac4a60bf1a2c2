"""Tables: the classes are what the migrations build, times keep their order as text."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from ghost_core import db
from ghost_ledger import store
from support.ledger import url_of

TABLES = {
    row.__tablename__
    for row in (
        store.EntryRow, store.HeadRow, store.TileRow, store.PayloadRow, store.PayloadKeyRow,
        store.SessionRow, store.ActionRow, store.CredentialRow,
    )
}  # fmt: skip
MOMENTS = st.integers(0, 4_000_000_000_000_000)


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_the_classes_are_what_the_migrations_build(tmp_path: Path):
    engine = db.engine(url_of(tmp_path))
    db.migrate(engine)
    options = {"compare_type": False}  # times are text in SQLite under the seed's column type
    with db.read(engine) as connection:
        context = MigrationContext.configure(connection, opts=options)
        found = [each for each in compare_metadata(context, db.metadata()) if _is_ours(each)]
    assert found == []


def _is_ours(difference: object) -> bool:
    return any(f"'{table}'" in repr(difference) for table in TABLES)


def test_the_tables_can_be_created_in_postgresql():
    for name in TABLES:
        table = db.metadata().tables[str(name)]
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=postgresql.dialect()))


@given(MOMENTS, MOMENTS)
def test_stored_times_sort_as_text(first: int, second: int):
    texts = store.time_text(first), store.time_text(second)
    assert (first < second) == (texts[0] < texts[1])


@given(MOMENTS)
def test_a_stored_time_is_read_back_to_the_microsecond(moment: int):
    read = datetime.fromisoformat(store.time_text(moment))
    assert read.tzinfo == UTC
    assert (read - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1e6 // 1 in (
        moment - 1, moment, moment + 1,
    )  # fmt: skip
