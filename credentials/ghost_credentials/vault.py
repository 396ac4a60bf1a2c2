"""Secrets that ghost keeps itself: rows of the table `vault`, each sealed under the vault key of the home.

The name is sealed with the secret, so a row whose box was moved under another name does not open.
"""

from __future__ import annotations

from dataclasses import dataclass

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from sqlalchemy import BigInteger, Column, Engine, delete, insert, select
from sqlmodel import Field, SQLModel

from ghost_core import db
from ghost_core.clock import Clock, SystemClock
from ghost_core.errors import IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_ledger.identity import vault_key


class VaultRow(SQLModel, table=True):
    """One sealed secret; `sid` is set for what was minted for a session and goes with it."""

    __tablename__ = "vault"

    name: str = Field(primary_key=True)
    sealed: bytes
    sid: str | None = None
    updated_at: int = Field(sa_column=Column(BigInteger, nullable=False))


@dataclass(frozen=True, slots=True)
class Stored:
    """What may be shown of a row: no secret; `updated_at` in microseconds since the epoch."""

    name: str
    sid: str | None
    updated_at: int


_TABLE = SQLModel.metadata.tables["vault"]
_C = _TABLE.c


class Vault:
    """The sealed secrets of one home."""

    def __init__(self, home: Home, engine: Engine, *, clock: Clock | None = None) -> None:
        self._engine = engine
        self._clock = clock or SystemClock()
        self._box = SecretBox(vault_key(home).reveal())

    def put(self, name: str, secret: SecretBytes, *, sid: str | None = None) -> None:
        """Seal a secret under a name, replacing the one before."""
        row = {
            "name": name,
            "sealed": self._seal(name, secret),
            "sid": sid,
            "updated_at": self._clock.now_us(),
        }
        with db.write(self._engine) as connection:
            connection.execute(delete(_TABLE).where(_C.name == name))
            connection.execute(insert(_TABLE).values(row))

    def find(self, name: str) -> SecretBytes | None:
        """Return the secret or None; raises IntegrityError `vault.sealed` if the row does not open."""
        with db.read(self._engine) as connection:
            sealed = connection.execute(select(_C.sealed).where(_C.name == name)).scalar()
        return None if sealed is None else self._open(name, bytes(sealed))

    def get(self, name: str) -> SecretBytes:
        """Return the secret; raises as `find` does, and NotFoundError `credential.missing`."""
        found = self.find(name)
        if found is None:
            raise NotFoundError(
                f"vault entry {name!r}: does not exist",
                code="credential.missing",
                hint=f"ghost credential add {name}",
            )
        return found

    def remove(self, name: str) -> bool:
        """Delete a secret; tell whether there was one."""
        with db.write(self._engine) as connection:
            return connection.execute(delete(_TABLE).where(_C.name == name)).rowcount > 0

    def remove_session(self, sid: str) -> int:
        """Delete what was minted for a session; return how many."""
        with db.write(self._engine) as connection:
            return connection.execute(delete(_TABLE).where(_C.sid == sid)).rowcount

    def rows(self) -> tuple[Stored, ...]:
        """Return what is stored, by name, without opening it."""
        columns = select(_C.name, _C.sid, _C.updated_at).order_by(_C.name)
        with db.read(self._engine) as connection:
            return tuple(Stored(*row) for row in connection.execute(columns))

    def names(self) -> tuple[str, ...]:
        """Return the names that belong to no session."""
        return tuple(row.name for row in self.rows() if row.sid is None)

    def _seal(self, name: str, secret: SecretBytes) -> bytes:
        return bytes(self._box.encrypt(name.encode() + b"\0" + secret.reveal()))

    def _open(self, name: str, sealed: bytes) -> SecretBytes:
        try:
            found, _, secret = self._box.decrypt(sealed).partition(b"\0")
        except (CryptoError, ValueError) as error:
            raise _broken(name, "does not open under this home's key") from error
        if found != name.encode():
            raise _broken(name, "was sealed under another name")
        return SecretBytes(secret)


def _broken(name: str, text: str) -> IntegrityError:
    return IntegrityError(
        f"vault entry {name!r}: {text}", code="vault.sealed", hint=f"ghost credential add {name}"
    )
