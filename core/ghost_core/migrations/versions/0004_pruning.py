"""Guards of entries and payloads: those of a session that an entry says was pruned may be deleted."""

from __future__ import annotations

from alembic import op

from ghost_core.migrations.prune_guards import postgres_prune_guards, sqlite_prune_guards

revision = "0004"
down_revision = "0003"

_GUARDS = {"sqlite": sqlite_prune_guards, "postgresql": postgres_prune_guards}


def upgrade() -> None:
    """Put the new triggers in the place of the old, with the indexes by which they decide."""
    for statement in _GUARDS[op.get_bind().dialect.name]():
        op.execute(statement)
