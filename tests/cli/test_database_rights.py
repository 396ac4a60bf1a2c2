"""The rights of roles: no table is forgotten, and nobody but the owner takes anything back from the log."""

from __future__ import annotations

from sqlmodel import SQLModel

from ghost_cli.database_rights import READER, RECORDER, is_recorder

LOG = ("entries", "tiles", "payloads", "payload_keys")


def test_every_table_has_its_rights() -> None:
    assert set(RECORDER) == {*SQLModel.metadata.tables, "alembic_version"}


def test_nothing_is_taken_back_from_the_log() -> None:
    assert {RECORDER[table] for table in LOG} == {"SELECT, INSERT"}
    kept = ("log_head", "sessions", "actions", "credentials_log", "alembic_version")
    assert all("DELETE" not in RECORDER[table] for table in kept)


def test_a_reader_sees_all_but_the_vault() -> None:
    assert set(RECORDER) - set(READER) == {"vault"}
    assert set(READER.values()) == {"SELECT"}


def test_who_may_append_is_a_recorder() -> None:
    assert is_recorder({"SELECT", "INSERT"})
    assert not is_recorder({"SELECT"})
