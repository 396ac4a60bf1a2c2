from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect

from ghost_core import db
from ghost_core.errors import IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_credentials.vault import Vault, VaultRow

SECRET = SecretBytes(b"hunter2-hunter2")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path).ensure()


@pytest.fixture
def engine(home: Home) -> Engine:
    found = db.engine(f"sqlite:///{home.database}")
    db.migrate(found)
    return found


def test_the_class_has_the_columns_of_the_migration(engine: Engine) -> None:
    columns = inspect(engine).get_columns("vault")
    assert {column["name"] for column in columns} == set(VaultRow.model_fields)


def test_what_is_put_is_found_by_another_process(home: Home, engine: Engine) -> None:
    Vault(home, engine).put("stripe", SECRET)
    assert Vault(home, engine).get("stripe") == SECRET


def test_a_second_put_replaces_the_first(home: Home, engine: Engine) -> None:
    vault = Vault(home, engine)
    vault.put("stripe", SecretBytes(b"one"))
    vault.put("stripe", SECRET)
    assert vault.get("stripe") == SECRET
    assert vault.names() == ("stripe",)


def test_a_missing_secret_is_said(home: Home, engine: Engine) -> None:
    assert Vault(home, engine).find("stripe") is None
    with pytest.raises(NotFoundError, match="'stripe'") as caught:
        Vault(home, engine).get("stripe")
    assert caught.value.code == "credential.missing"


def test_removing_tells_whether_there_was_one(home: Home, engine: Engine) -> None:
    vault = Vault(home, engine)
    vault.put("stripe", SECRET)
    assert [vault.remove("stripe"), vault.remove("stripe")] == [True, False]


def test_what_a_session_minted_goes_with_it(home: Home, engine: Engine) -> None:
    vault = Vault(home, engine)
    vault.put("stripe", SECRET)
    vault.put("gh_1-stripe", SECRET, sid="gh_1")
    assert vault.names() == ("stripe",)
    assert [row.sid for row in vault.rows()] == ["gh_1", None]
    assert vault.remove_session("gh_1") == 1
    assert [row.name for row in vault.rows()] == ["stripe"]


def test_no_secret_lies_in_the_database_in_clear(home: Home, engine: Engine) -> None:
    Vault(home, engine).put("stripe", SECRET)
    engine.dispose()
    files = [path.read_bytes() for path in home.root.glob("ghost.db*")]
    assert files
    assert not any(SECRET.reveal() in data for data in files)


def test_a_box_under_another_name_does_not_open(home: Home, engine: Engine) -> None:
    vault = Vault(home, engine)
    vault.put("stripe", SECRET)
    with db.write(engine) as connection:
        connection.exec_driver_sql("UPDATE vault SET name = 'other'")
    with pytest.raises(IntegrityError, match="'other': was sealed under another name") as caught:
        vault.get("other")
    assert caught.value.code == "vault.sealed"


@pytest.mark.parametrize("sealed", [b"", b"short", bytes(80)])
def test_a_changed_box_does_not_open(home: Home, engine: Engine, sealed: bytes) -> None:
    vault = Vault(home, engine)
    vault.put("stripe", SECRET)
    with db.write(engine) as connection:
        connection.exec_driver_sql("UPDATE vault SET sealed = ?", (sealed,))
    with pytest.raises(IntegrityError) as caught:
        vault.get("stripe")
    assert caught.value.code == "vault.sealed"
