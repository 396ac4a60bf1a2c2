"""What a database must tell of itself: the list of differences between SQLite and PostgreSQL in this room.

A backend is a module; `ghost_core.db` asks it and holds no difference of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from ghost_core.errors import ConfigError, UnavailableError
from ghost_core.paths import Home

__all__ = ["Backend", "Tuning", "bad_url", "driver_cause", "foreign"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """How connections are made: who waits how long, what must keep its shape."""

    busy_seconds: float
    guarded: frozenset[str]
    trusted: bool


class Backend(Protocol):
    """One kind of database."""

    @property
    def SHARED(self) -> bool:  # noqa: N802  # constants of a module
        """Whether processes of other machines may be at work in it."""
        ...

    @property
    def READ(self) -> str:  # noqa: N802
        """Begins a transaction that sees one state."""
        ...

    @property
    def WRITE(self) -> str:  # noqa: N802
        """Begins a transaction that takes the one lock of all writers at once."""
        ...

    @property
    def DATA_VERSION(self) -> str:  # noqa: N802
        """Asks for what is another value once another connection has committed."""
        ...

    @property
    def OPTIONS(self) -> dict[str, Any]:  # noqa: N802
        """What SQLAlchemy's engine takes."""
        ...

    def resolved(self, url: URL, home: Home | None, /) -> URL:
        """Return the address that is connected to; raises ConfigError `database.url`."""
        ...

    def name(self, url: URL, /) -> str:
        """Return what messages and the head memory call the database; never a password."""
        ...

    def connect_args(self, tuning: Tuning, /) -> dict[str, Any]:
        """Return what the driver takes for a connection."""
        ...

    def connected(self, raw: Any, tuning: Tuning, /) -> None:
        """Set up a driver connection that was just made."""
        ...

    def exists(self, engine: Engine, /) -> bool:
        """Tell whether there is a database of ours; none is made."""
        ...

    def prepare(self, engine: Engine, /) -> None:
        """Do what must be done before the first transaction of a migration."""
        ...

    def stamp(self, connection: Connection, /) -> None:
        """Mark the database as ours."""
        ...

    def before_commit(self, raw: Any, /) -> None:
        """Refuse to end a transaction as done that the database has given up."""
        ...

    def rewrite(self, engine: Engine, tables: Sequence[str], /) -> None:
        """Write the tables anew, so that no page holds what was deleted; raises as `db.rewrite`."""
        ...

    def copy(self, engine: Engine, target: Path, /) -> None:
        """Write one state of the database into a new file; raises as `db.copy`."""
        ...

    def explained(self, error: Exception, url: URL, /) -> Exception:
        """Say what a driver error means for the user."""
        ...


def driver_cause(error: Exception) -> BaseException | None:
    """Return the driver's own error."""
    return error.orig if isinstance(error, sa.exc.DBAPIError) else error


def bad_url(expected: str) -> ConfigError:
    """Return the error for an address that cannot be used; it never repeats the address."""
    return ConfigError(
        f"database.url: expected {expected}",
        code="database.url",
        hint='url = "sqlite:///$GHOST_HOME/ghost.db" or "postgresql+psycopg://user@host/db"',
    )


def foreign(name: str, why: str) -> UnavailableError:
    """Return the error for tables that are not those of this ghost."""
    return UnavailableError(
        f"database {name}: expected the tables of this ghost, found {why}",
        code="database.schema",
        hint="use the ghost that made it, or set database.url to a database of its own",
    )
