"""What the two roles beside the owner may do to each table of a shared database.

The recorder appends to the log and keeps what follows from it; the reader sees all but the vault. Neither
can take anything back from the log.
"""

from __future__ import annotations

from typing import Any, Final

from ghost_core.db_roles import Rights
from ghost_credentials.vault import VaultRow
from ghost_ledger import store
from ghost_memory import tables

__all__ = ["READER", "RECORDER", "is_recorder"]

_REVISION: Final = "alembic_version"
_SEEN: Final = "SELECT"
_APPENDED: Final = "SELECT, INSERT"
_KEPT: Final = "SELECT, INSERT, UPDATE"
_FREE: Final = "SELECT, INSERT, UPDATE, DELETE"
_LOG: Final[tuple[Any, ...]] = (
    store.EntryRow,
    store.TileRow,
    store.PayloadRow,
    store.PayloadKeyRow,
)
_FOLLOWING: Final[tuple[Any, ...]] = (
    store.HeadRow,
    store.SessionRow,
    store.ActionRow,
    store.CredentialRow,
)
_MEMORY: Final[tuple[Any, ...]] = tuple(getattr(tables, name) for name in tables.__all__)


def _named(rows: tuple[Any, ...], rights: str) -> dict[str, str]:
    return {str(row.__tablename__): rights for row in rows}


RECORDER: Final[Rights] = {
    _REVISION: _SEEN,
    **_named(_LOG, _APPENDED),
    **_named(_FOLLOWING, _KEPT),
    **_named((VaultRow, *_MEMORY), _FREE),
}
"""For machines where agents run: `spawn`, `possess`, `act`, `evaporate`, `run`, memory."""

READER: Final[Rights] = {table: _SEEN for table in RECORDER if table != str(VaultRow.__tablename__)}
"""For auditors: `replay`, `residue`, `bundle`, `session list`."""


def is_recorder(rights: set[str]) -> bool:
    """Tell from what a role may do to `entries` whether it records."""
    return "INSERT" in rights
