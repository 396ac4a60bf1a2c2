"""Payload rows: sealed under the session's data key, in the transaction of their entry."""

from __future__ import annotations

import threading
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import IntegrityError
from ghost_core.secret import SecretBytes
from ghost_ledger import sealing
from ghost_ledger.drafts import Draft, Payload

__all__ = ["DataKeys", "PayloadTuple", "check", "sealed_row"]

type PayloadTuple = tuple[int, str, bytes, str, bytes | None, int, bool, str]
"""A row of `payloads` in column order."""

_KEY: Final = sa.text("SELECT sealed FROM payload_keys WHERE sid = :sid")
_NEW_KEY: Final = sa.text("INSERT INTO payload_keys (sid, sealed) VALUES (:sid, :sealed)")


class DataKeys:
    """The opened data keys of sessions; created on the first payload, erased for good with the row."""

    __slots__ = ("_lock", "_opened", "_vault_key")

    def __init__(self, vault_key: SecretBytes) -> None:
        self._vault_key = vault_key
        self._opened: dict[str, SecretBytes] = {}
        self._lock = threading.Lock()  # a key must not be wiped between finding and using it

    def find(self, connection: Connection, sid: str) -> bytes | None:
        """Return the session's key, or None where it has none (any more)."""
        sealed = connection.execute(_KEY, {"sid": sid}).scalar()
        return None if sealed is None else sealing.unseal(self._vault_key.reveal(), sealed)

    def obtain(self, connection: Connection, sid: str) -> bytes:
        """Return the session's key; create it within this transaction if there is none."""
        with self._lock:
            known = self._opened.get(sid)
            if known is None:
                found = self.find(connection, sid)
                known = self._create(connection, sid) if found is None else SecretBytes(found)
                self._opened[sid] = known
            return known.reveal()

    def forget(self, sid: str | None = None) -> None:
        """Wipe the opened key of a session, or all: after a rollback none can be trusted to exist."""
        with self._lock:
            for name in [sid] if sid is not None else list(self._opened):
                key = self._opened.pop(name, None)
                if key is not None:
                    key.wipe()

    def _create(self, connection: Connection, sid: str) -> SecretBytes:
        key = sealing.new_key()
        sealed = sealing.seal(self._vault_key.reveal(), key.reveal())
        connection.execute(_NEW_KEY, {"sid": sid, "sealed": sealed})
        return key


def check(draft: Draft) -> None:
    """Refuse a payload that its entry does not commit to.

    Raises:
        IntegrityError: code `ledger.payload`.
    """
    for payload in draft.payloads:
        if draft.fields.get(payload.field) != payload.commitment:
            raise IntegrityError(
                f"{draft.type} {draft.id}: payload {payload.field} is not the committed one",
                code="ledger.payload",
            )


def sealed_row(idx: int, payload: Payload, key: bytes) -> PayloadTuple:
    """Build the row of a payload, its data sealed."""
    return (
        idx,
        payload.field,
        payload.salt,
        payload.commitment,
        None if payload.data is None else sealing.seal(key, payload.data),
        payload.size,
        payload.truncated,
        payload.media,
    )
