"""Alembic's entry: run the revisions inside the transaction that `migrate` opened."""

from __future__ import annotations

from alembic import context


def run() -> None:
    """Apply pending revisions on the handed-in connection; commit and rollback are the caller's."""
    context.configure(connection=context.config.attributes["connection"])
    with context.begin_transaction():
        context.run_migrations()


run()
