"""Guards of payloads and data keys: they are deleted only after an entry that says so."""

from __future__ import annotations

from alembic import op

from ghost_core.migrations.payload_guards import postgres_payload_guards, sqlite_payload_guards

revision = "0003"
down_revision = "0002"

_GUARDS = {"sqlite": sqlite_payload_guards, "postgresql": postgres_payload_guards}


def upgrade() -> None:
    """Create the triggers, and the index by which they find that entry."""
    for statement in _GUARDS[op.get_bind().dialect.name]():
        op.execute(statement)
