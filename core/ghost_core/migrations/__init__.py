"""The one Alembic history of the one database; run by `ghost_core.db.migrate`, never by hand."""

from __future__ import annotations

HEAD = "0004"
"""The newest revision: a database at this one needs no Alembic import to be opened."""
