"""The tables of the ledger: storage only, nothing here validates.

`entries` holds the signed bytes and is the truth; its other columns, and the seed's `sessions`,
`actions` and `credentials_log`, are derived from those bytes (`derivation`). Hashes, signatures
and commitments are plain hex in text columns; `…_us` meaning is noted where a name lacks it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, override

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import Field, SQLModel

from ghost_core.clock import time_text

__all__ = [
    "GUARDED",
    "ActionRow",
    "CredentialRow",
    "EntryRow",
    "HeadRow",
    "PayloadKeyRow",
    "PayloadRow",
    "SessionRow",
    "TileRow",
    "time_text",
]

GUARDED: Final = frozenset({"entries", "log_head", "tiles", "payloads", "payload_keys"})
"""Tables whose shape a recorder connection cannot change."""

_INDEX = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # so that it is SQLite's rowid


class UtcTime(TypeDecorator[datetime]):
    """An aware UTC instant; text in SQLite, `timestamptz` in PostgreSQL."""

    impl = sa.TIMESTAMP(timezone=True)
    cache_ok = True

    @override
    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the storage of the dialect."""
        sqlite = dialect.name == "sqlite"
        return dialect.type_descriptor(sa.Text() if sqlite else sa.TIMESTAMP(timezone=True))

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Store in UTC, whatever zone it came in."""
        if value is None or dialect.name != "sqlite":
            return value
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    @override
    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Hand out aware times only."""
        return datetime.fromisoformat(value) if dialect.name == "sqlite" and value else value


_SEALS = "type = 'session.seal'"


class EntryRow(SQLModel, table=True):
    """One signed entry; `prev` and `leaf_hash` raw 32 bytes, `ts` microseconds UTC."""

    __tablename__ = "entries"
    __table_args__ = (
        sa.UniqueConstraint("sid", "seq", name="uq_entries_seq"),
        # The migration says the same of PostgreSQL; here it would load that dialect at every start.
        sa.Index("uq_entries_seal", "sid", unique=True, sqlite_where=sa.text(_SEALS)),
    )

    idx: int = Field(sa_column=sa.Column(_INDEX, primary_key=True, autoincrement=False))
    sid: str = Field(sa_type=sa.Text)
    seq: int = Field(sa_type=sa.BigInteger)
    prev: bytes
    type: str = Field(sa_type=sa.Text)
    id: str = Field(sa_type=sa.Text)
    ts: int = Field(sa_type=sa.BigInteger)
    body: bytes
    sig: bytes
    leaf_hash: bytes


class HeadRow(SQLModel, table=True):
    """The one row of the log: its name, its size and the frontier that appending needs."""

    __tablename__ = "log_head"
    __table_args__ = (sa.CheckConstraint('"only" = 1', name="ck_log_head_only"),)

    origin: str = Field(sa_type=sa.Text, primary_key=True)
    size: int = Field(sa_type=sa.BigInteger)
    frontier: bytes
    last_ts: int = Field(sa_type=sa.BigInteger)
    vkey: str = Field(sa_type=sa.Text)
    only: int = Field(default=1, unique=True)


class TileRow(SQLModel, table=True):
    """A full tile: 256 hashes of one level of the log tree, and the root over them."""

    __tablename__ = "tiles"

    level: int = Field(sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=False))
    number: int = Field(sa_column=sa.Column(sa.BigInteger, primary_key=True, autoincrement=False))
    hashes: bytes
    root: bytes


class PayloadRow(SQLModel, table=True):
    """What a commitment stands for; `data` is sealed, or NULL where only the salt is kept."""

    __tablename__ = "payloads"

    entry_idx: int = Field(
        sa_column=sa.Column(sa.BigInteger, primary_key=True, autoincrement=False)
    )
    field: str = Field(sa_type=sa.Text, primary_key=True)
    salt: bytes
    commitment: str = Field(sa_type=sa.Text)
    data: bytes | None = None
    size: int = Field(sa_type=sa.BigInteger)
    truncated: bool
    media: str = Field(sa_type=sa.Text)


class PayloadKeyRow(SQLModel, table=True):
    """The data key of one session, sealed by the vault key; without it the payloads are erased."""

    __tablename__ = "payload_keys"

    sid: str = Field(sa_type=sa.Text, primary_key=True)
    sealed: bytes


class SessionRow(SQLModel, table=True):
    """A session as its entries tell it.

    `expires_at` is microseconds since the epoch, `deadline` microseconds of the boot clock of
    `boot`; `status` is live, sealed or abandoned; `token` the digest; `scope` the seed's form.
    """

    __tablename__ = "sessions"
    __table_args__ = (sa.Index("idx_session_spawned", sa.text("spawned_at DESC")),)

    session_id: str = Field(sa_type=sa.Text, primary_key=True)
    intent: str | None = Field(default=None, sa_type=sa.Text)
    scope: str = Field(sa_type=sa.Text)
    spawned_at: datetime = Field(sa_type=UtcTime)
    ttl_seconds: int
    evaporated_at: datetime | None = Field(default=None, sa_type=UtcTime)
    root_signature: str | None = Field(default=None, sa_type=sa.Text)
    scopes: list[str] = Field(sa_column=sa.Column(sa.JSON, nullable=False))
    status: str = Field(sa_type=sa.Text)
    reason: str | None = Field(default=None, sa_type=sa.Text)
    system: bool
    quarantined: bool
    parent: str | None = Field(default=None, sa_type=sa.Text)
    vkey: str = Field(sa_type=sa.Text)
    wire_key: str = Field(sa_type=sa.Text)
    token: str | None = Field(default=None, sa_type=sa.Text)
    policy: str | None = Field(default=None, sa_type=sa.Text)
    expires_at: int = Field(sa_type=sa.BigInteger)
    boot: str = Field(sa_type=sa.Text)
    deadline: int = Field(sa_type=sa.BigInteger)
    root: str | None = Field(default=None, sa_type=sa.Text)
    size: int | None = Field(default=None, sa_type=sa.BigInteger)


class ActionRow(SQLModel, table=True):
    """One call or refusal; `status` is pending, executed, failed, denied or unknown.

    `timestamp` is the intent's; `signature` and `entry_hash` are the outcome's or denial's, and
    while there is none the intent's. `latency_us` microseconds; `sent`, `received` bytes.
    """

    __tablename__ = "actions"
    __table_args__ = (sa.Index("idx_action_session", "session_id"),)

    action_id: str = Field(sa_type=sa.Text, primary_key=True)
    session_id: str = Field(sa_type=sa.Text, foreign_key="sessions.session_id")
    tool: str = Field(sa_type=sa.Text)
    action: str = Field(sa_type=sa.Text)
    params_hash: str | None = Field(default=None, sa_type=sa.Text)
    response_hash: str | None = Field(default=None, sa_type=sa.Text)
    http_status: int | None = None
    timestamp: datetime = Field(sa_type=UtcTime)
    signature: str = Field(sa_type=sa.Text)
    status: str = Field(sa_type=sa.Text)
    method: str = Field(sa_type=sa.Text)
    host: str = Field(sa_type=sa.Text)
    intent_signature: str | None = Field(default=None, sa_type=sa.Text)
    entry_hash: str = Field(sa_type=sa.Text)
    entry_idx: int = Field(sa_type=sa.BigInteger)
    intent_idx: int | None = Field(default=None, sa_type=sa.BigInteger)
    credential: str | None = Field(default=None, sa_type=sa.Text)
    operation: str | None = Field(default=None, sa_type=sa.Text)
    error: str | None = Field(default=None, sa_type=sa.Text)
    rule: str | None = Field(default=None, sa_type=sa.Text)
    latency_us: int | None = Field(default=None, sa_type=sa.BigInteger)
    sent: int | None = Field(default=None, sa_type=sa.BigInteger)
    received: int | None = Field(default=None, sa_type=sa.BigInteger)
    count: int = Field(sa_type=sa.BigInteger)


class CredentialRow(SQLModel, table=True):
    """One change of a credential; `reason` is spawn, rotate or evaporate, `event` its entry type."""

    __tablename__ = "credentials_log"
    __table_args__ = (sa.Index("idx_credentials_session", "session_id"),)

    session_id: str = Field(sa_type=sa.Text, foreign_key="sessions.session_id")
    key_hash: str | None = Field(default=None, sa_type=sa.Text)
    rotated_at: datetime = Field(sa_type=UtcTime)
    reason: str = Field(sa_type=sa.Text)
    credential: str | None = Field(default=None, sa_type=sa.Text)
    event: str = Field(sa_type=sa.Text)
    entry_idx: int = Field(sa_column=sa.Column(_INDEX, primary_key=True, autoincrement=False))
