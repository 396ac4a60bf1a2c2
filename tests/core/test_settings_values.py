from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.paths import Home
from ghost_core.settings_values import database_url, field_path, reference, size_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (0, 0),
        (65536, 65536),
        ("12", 12),
        ("12B", 12),
        ("3 kB", 3000),
        ("64MB", 64_000_000),
        ("2GB", 2_000_000_000),
        ("1KiB", 1024),
        ("64MiB", 67_108_864),
        ("1GiB", 1_073_741_824),
    ],
)
def test_a_size_is_read_in_powers_of_1000_and_with_an_i_of_1024(text: object, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize(
    "text", [-1, True, 1.5, None, "", "MB", "-1MB", "1.5MB", "1TB", "1iB", "9" * 16]
)
def test_anything_else_is_no_size_and_is_not_repeated(text: object) -> None:
    with pytest.raises(ValueError, match=r"\Aexpected a size such as 65536, '64MB' or '64MiB'\Z"):
        size_bytes(text)


@given(st.text(max_size=40))
def test_no_text_makes_the_size_reader_fail_otherwise(text: str) -> None:
    try:
        assert size_bytes(text) >= 0
    except ValueError as error:
        assert str(error).startswith("expected a size")


def test_the_home_is_expanded_in_a_sqlite_address() -> None:
    base = Home(Path("/some/home"))
    assert (
        database_url("sqlite:///$GHOST_HOME/ghost.db", base=base) == "sqlite:////some/home/ghost.db"
    )
    assert database_url("sqlite:///~/.ghost/x.db", base=base) == "sqlite:////some/home/x.db"


def test_a_postgresql_address_is_kept() -> None:
    assert database_url("postgresql+psycopg://me@db/ghost") == "postgresql+psycopg://me@db/ghost"


@pytest.mark.parametrize(
    "text",
    [
        "mysql://h/x",
        "sqlite://",
        "sqlite:///",
        "postgresql://me@db",
        "postgresql://me@db/",
        "ghost.db",
    ],
)
def test_another_database_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected sqlite"):
        database_url(text)


def test_a_password_in_the_database_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="no password") as caught:
        database_url("postgresql://me:hunter2@db/ghost")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["env:X", "file:/a b", "cmd:pass show x", "keyring:s/u", "vault:x"]
)
def test_a_reference_names_where_the_secret_lies(text: str) -> None:
    assert reference(text) == text


@pytest.mark.parametrize("text", ["sk_live_1234", "", "env:", "env:  ", "ENV:X", "http:x"])
def test_anything_else_is_no_reference_and_is_not_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="expected a reference") as caught:
        reference(text)
    assert not text or text not in str(caught.value).split(": ")[0]


@pytest.mark.parametrize(
    "text", ["amount", "order.amount", "items[0].amount", "$.a-b._c", "a[1][2]", "mont\u00e1nt"]
)
def test_a_field_is_named_by_its_path(text: str) -> None:
    assert field_path(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "amount[",
        "amount[]",
        "amount]",
        "a..b",
        ".a",
        "a.",
        "a b",
        " a",
        "a\n",
        "0",
        "",
        "$",
        "a[x]",
    ],
)
def test_what_names_no_field_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected the name of a field"):
        field_path(text)
