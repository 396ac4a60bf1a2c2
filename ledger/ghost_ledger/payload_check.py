"""Every stored payload against the commitment in its entry, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from ghost_core import db
from ghost_core.errors import IncompleteError, IntegrityError
from ghost_core.paths import Home
from ghost_ledger import commitment, entry, identity, sealing

__all__ = ["check"]

PAGE: Final = 1000
_PLACES: Final = sa.text(
    "SELECT entry_idx, field FROM payloads WHERE (entry_idx, field) > (:idx, :field)"
    " ORDER BY entry_idx, field LIMIT :limit"
)
_PAYLOAD: Final = sa.text(
    "SELECT p.entry_idx, p.field, p.salt, p.commitment, p.data, p.truncated, e.sid, e.body"
    " FROM payloads p LEFT JOIN entries e ON e.idx = p.entry_idx"
    " WHERE p.entry_idx = :idx AND p.field = :field"
)
_KEY: Final = sa.text("SELECT sealed FROM payload_keys WHERE sid = :sid")
_ERASED: Final = sa.text("SELECT count(*) FROM entries WHERE type = 'payload.erased'")


def check(connection: Connection, home: Home) -> str | None:
    """Say how many payloads were compared; None where nothing is stored or erased.

    Raises:
        IntegrityError: a payload is not the committed one, or belongs to no entry.
        IncompleteError: payloads of another home, which only that can open.
    """
    opened, whole, parts = _Opened(connection, home), 0, 0
    for row in _payloads(connection):
        if _fits(row, opened):
            whole += 1
        else:
            parts += 1
    if opened.foreign:
        raise IncompleteError(
            f"payloads of {opened.foreign} sessions open only in the home that sealed them",
            code="ledger.sealed",
        )
    erased = int(connection.execute(_ERASED).scalar_one())
    counts = ((whole, "compared"), (parts, "stored in part"), (erased, "entries of erasure"))
    return ", ".join(f"{count} {word}" for count, word in counts if count) or None


class _Opened:
    """The data key of the session whose payloads pass by."""

    def __init__(self, connection: Connection, home: Home) -> None:
        self._connection = connection
        self._home = home
        self._others_may = db.is_shared(connection.engine)
        self._sid = ""
        self._key: bytes | None = None
        self.foreign = 0

    def key(self, sid: str) -> bytes | None:
        """Return it; None where it is another home's, or gone."""
        if sid != self._sid:
            self._sid, self._key = sid, self._found(sid)
        return self._key

    def _found(self, sid: str) -> bytes | None:
        sealed = self._connection.execute(_KEY, {"sid": sid}).scalar()
        if sealed is None:
            raise IntegrityError(f"session {sid}: payloads without their data key")
        try:
            return sealing.unseal(identity.vault_key(self._home).reveal(), sealed)
        except IntegrityError:
            if not self._others_may:
                raise
            self.foreign += 1
            return None


def _payloads(connection: Connection) -> Iterator[Row[Any]]:
    """Yield the payloads in log order; of a page only the places are held, of the data one at a time."""
    idx, field = -1, ""
    while page := connection.execute(_PLACES, {"idx": idx, "field": field, "limit": PAGE}).all():
        for idx, field in page:  # the next page begins behind the last place
            yield connection.execute(_PAYLOAD, {"idx": idx, "field": field}).one()


def _fits(row: Row[Any], opened: _Opened) -> bool:
    """Tell whether all of it was compared; raises where it is not what was committed to."""
    if row.body is None:
        raise IntegrityError(f"payload {row.field} of idx {row.entry_idx}: there is no such entry")
    expected = entry.parse_envelope(row.body).fields.get(row.field)
    if expected != row.commitment or not isinstance(expected, str):
        raise _other(row)
    key = opened.key(row.sid)
    if key is None or row.data is None:
        return False
    if not isinstance(row.salt, bytes) or not isinstance(row.data, bytes):
        raise _other(row)  # an edited SQLite file holds anything anywhere
    data = sealing.unseal(key, row.data)
    if commitment.check(row.field, row.salt, data, expected):
        return True
    if not row.truncated:
        raise _other(row)
    return False


def _other(row: Row[Any]) -> IntegrityError:
    return IntegrityError(
        f"idx {row.entry_idx}: committed to another {row.field} than the one stored",
        code="ledger.payload",
    )
