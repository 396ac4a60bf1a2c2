"""Ledger tables with their append-only guards, the seed's projections, and the vault."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from ghost_core.migrations.guards import SQLITE_GUARDS, postgres_guards

revision = "0001"
down_revision = None

_GUARDS = {"sqlite": SQLITE_GUARDS.values, "postgresql": postgres_guards}
_INDEX = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create everything of the first release."""
    _entries()
    _log()
    _payloads()
    _sessions()
    _actions()
    _credentials()
    for statement in _GUARDS[op.get_bind().dialect.name]():
        op.execute(statement)


def _entries() -> None:
    op.create_table(
        "entries",
        sa.Column("idx", _INDEX, primary_key=True, autoincrement=False),
        sa.Column("sid", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("prev", sa.LargeBinary(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("ts", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("sig", sa.LargeBinary(), nullable=False),
        sa.Column("leaf_hash", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("sid", "seq", name="uq_entries_seq"),
    )
    sealed = sa.text("type = 'session.seal'")
    op.create_index(
        "uq_entries_seal",
        "entries",
        ["sid"],
        unique=True,
        sqlite_where=sealed,
        postgresql_where=sealed,
    )


def _log() -> None:
    op.create_table(
        "log_head",
        sa.Column("origin", sa.Text(), primary_key=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("frontier", sa.LargeBinary(), nullable=False),
        sa.Column("last_ts", sa.BigInteger(), nullable=False),
        sa.Column("vkey", sa.Text(), nullable=False),
        sa.Column("only", sa.Integer(), nullable=False, unique=True),
        sa.CheckConstraint('"only" = 1', name="ck_log_head_only"),
    )
    op.create_table(
        "tiles",
        sa.Column("level", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
    )


def _payloads() -> None:
    op.create_table(
        "payloads",
        sa.Column("entry_idx", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("field", sa.Text(), primary_key=True),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("media", sa.Text(), nullable=False),
    )
    op.create_table(
        "payload_keys",
        sa.Column("sid", sa.Text(), primary_key=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "vault",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("sid", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.Text(), primary_key=True),
        sa.Column("intent", sa.Text(), nullable=True),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("spawned_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("ttl_seconds", sa.Integer(), nullable=False),
        sa.Column("evaporated_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("root_signature", sa.Text(), nullable=True),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("system", sa.Boolean(), nullable=False),
        sa.Column("quarantined", sa.Boolean(), nullable=False),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("vkey", sa.Text(), nullable=False),
        sa.Column("wire_key", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("policy", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("boot", sa.Text(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=False),
        sa.Column("root", sa.Text(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=True),
    )
    op.create_index("idx_session_spawned", "sessions", [sa.text("spawned_at DESC")])


def _actions() -> None:
    op.create_table(
        "actions",
        sa.Column("action_id", sa.Text(), primary_key=True),
        sa.Column("session_id", sa.Text(), sa.ForeignKey("sessions.session_id"), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("params_hash", sa.Text(), nullable=True),
        sa.Column("response_hash", sa.Text(), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("timestamp", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("intent_signature", sa.Text(), nullable=True),
        sa.Column("entry_hash", sa.Text(), nullable=False),
        sa.Column("entry_idx", sa.BigInteger(), nullable=False),
        sa.Column("intent_idx", sa.BigInteger(), nullable=True),
        sa.Column("credential", sa.Text(), nullable=True),
        sa.Column("operation", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("rule", sa.Text(), nullable=True),
        sa.Column("latency_us", sa.BigInteger(), nullable=True),
        sa.Column("sent", sa.BigInteger(), nullable=True),
        sa.Column("received", sa.BigInteger(), nullable=True),
        sa.Column("count", sa.BigInteger(), nullable=False),
    )
    op.create_index("idx_action_session", "actions", ["session_id"])


def _credentials() -> None:
    op.create_table(
        "credentials_log",
        sa.Column("session_id", sa.Text(), sa.ForeignKey("sessions.session_id"), nullable=False),
        sa.Column("key_hash", sa.Text(), nullable=True),
        sa.Column("rotated_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), nullable=True),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("entry_idx", _INDEX, primary_key=True, autoincrement=False),
    )
    op.create_index("idx_credentials_session", "credentials_log", ["session_id"])
