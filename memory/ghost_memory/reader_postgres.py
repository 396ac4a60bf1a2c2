"""The hook path on PostgreSQL: the same reads over the plain driver, read only, without an ORM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ghost_core.errors import ConfigError, UnavailableError
from ghost_memory.dialect import POSTGRES
from ghost_memory.reader import Rows

if TYPE_CHECKING:
    import psycopg

__all__ = ["opened"]

CONNECT_SECONDS: Final = 3
_NAMED: Final = re.compile(r":(\w+)")
_TABLES: Final = (
    "SELECT to_regclass('memories') IS NOT NULL AND to_regclass('tasks') IS NOT NULL AS there"
)


@contextmanager
def opened(url: str) -> Iterator[Rows | None]:
    """Yield a reader of the database at an address; None where there is no memory in it.

    Raises UnavailableError `database.unreadable` where the server cannot be asked, ConfigError
    `database.driver` where the driver is not installed.
    """
    try:
        import psycopg
    except ImportError as error:
        raise ConfigError(
            "database.url: PostgreSQL needs the extra `postgres`, which is not installed",
            code="database.driver",
            hint="pip install 'ghost-ledger[postgres]'",
        ) from error
    address = url.replace("postgresql+psycopg:", "postgresql:", 1)
    try:
        with psycopg.connect(address, connect_timeout=CONNECT_SECONDS) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ  # one state
            connection.read_only = True
            connection.execute("SET timezone = 'UTC'")
            ask = _asking(connection)
            yield Rows(ask, POSTGRES) if ask(_TABLES, {})[0]["there"] else None
    except psycopg.Error as error:
        said = " ".join(str(error).split())
        raise UnavailableError(
            f"database: cannot be read, {said}", code="database.unreadable"
        ) from error


def _asking(connection: psycopg.Connection[Any]) -> Any:
    from psycopg.rows import dict_row

    cursor = connection.cursor(row_factory=dict_row)

    def ask(statement: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
        asked = _NAMED.sub(r"%(\1)s", statement.replace("%", "%%"))
        return cursor.execute(asked, values).fetchall()

    return ask
