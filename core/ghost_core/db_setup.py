"""A database as its administrator sees it: whose it is, at which revision, who may do what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy.engine import Engine

from ghost_core import db, db_roles
from ghost_core.db_roles import Rights
from ghost_core.paths import Home


class Brought(NamedTuple):
    """Revisions before and after, and of each role whether it was made."""

    before: str | None
    after: str | None
    made: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Setup:
    """The database of a configuration; nothing is made by looking at it."""

    _engine: Engine

    @property
    def name(self) -> str:
        """A path, or an address without password."""
        return db.name(self._engine)

    @property
    def has_roles(self) -> bool:
        """Whether it is on a server."""
        return db.is_shared(self._engine)

    @property
    def exists(self) -> bool:
        """Whether our tables are there."""
        return db.exists(self._engine)

    def holders(self, table: str) -> dict[str, set[str]]:
        """Return who was given what to a table; nobody where there are no roles."""
        if not self.has_roles:
            return {}
        with db.read(self._engine) as connection:
            return db_roles.holders(connection, table)

    def bring_up(self, roles: Mapping[str, Rights]) -> Brought:
        """Make the tables or bring them up to date, give each role its rights; raises like `db.migrate`."""
        before = db.revision(self._engine) if self.exists else None
        db.migrate(self._engine)
        made = self._give(roles) if roles else {}
        return Brought(before, db.revision(self._engine), made)

    def _give(self, roles: Mapping[str, Rights]) -> dict[str, bool]:
        with db.write(self._engine) as connection:
            return {role: db_roles.give(connection, role, rights) for role, rights in roles.items()}


@contextmanager
def opened(url: str, home: Home) -> Iterator[Setup]:
    """Open the database of an address."""
    engine = db.engine(url, home=home)
    try:
        yield Setup(engine)
    finally:
        engine.dispose()
