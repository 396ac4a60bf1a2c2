"""The tables of memory: storage only, nothing here validates.

Times are RFC 3339 UTC text with six digits, so text order is time order; `seq` is the order of writing.
`tags` and `alternatives` are JSON lists. Full-text search and `audit_log` are SQL only, in revision 0002.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

__all__ = [
    "CheckoutRow",
    "DecisionRow",
    "EmbeddingRow",
    "LinkRow",
    "LinkScanRow",
    "MemoryRow",
    "ProjectRow",
    "SnapshotRow",
    "StateRow",
    "TaskRow",
    "UsageRow",
]

_LIVE: Final = sa.text("invalidated_at IS NULL")
_SEQ: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # so that it is SQLite's rowid


class ProjectRow(SQLModel, table=True):
    """A bucket of memories; `path` equals the id while no checkout is known."""

    __tablename__ = "projects"

    id: str = Field(sa_type=sa.Text, primary_key=True)
    path: str = Field(sa_type=sa.Text, unique=True)
    name: str = Field(sa_type=sa.Text)
    created_at: str = Field(sa_type=sa.Text)
    updated_at: str = Field(sa_type=sa.Text)
    repo_remote: str | None = Field(default=None, sa_type=sa.Text)


class CheckoutRow(SQLModel, table=True):
    """A directory that belongs to a project; several may, worktrees and clones."""

    __tablename__ = "project_checkouts"

    path: str = Field(sa_type=sa.Text, primary_key=True)
    project_id: str = Field(sa_type=sa.Text, foreign_key="projects.id", ondelete="CASCADE")
    bound_at: str = Field(sa_type=sa.Text)


class StateRow(SQLModel, table=True):
    """What is known about a project as a whole."""

    __tablename__ = "ghost_state"

    project_id: str = Field(
        sa_type=sa.Text, primary_key=True, foreign_key="projects.id", ondelete="CASCADE"
    )
    interaction_count: int = Field(default=0, sa_type=sa.BigInteger)
    learned_context: str = Field(default="", sa_type=sa.Text)
    last_reflection_at: str | None = Field(default=None, sa_type=sa.Text)
    reflection_summary: str = Field(default="", sa_type=sa.Text)
    updated_at: str = Field(sa_type=sa.Text)


class MemoryRow(SQLModel, table=True):
    """One memory; `digest` is that of its normalised text, `pairs` its CJK character pairs."""

    __tablename__ = "memories"
    __table_args__ = (
        sa.Index("idx_memory_category", "project_id", "category"),
        sa.Index("idx_memory_source", "project_id", "source"),
        sa.Index("idx_memory_digest", "project_id", "digest"),
        sa.Index("idx_memory_importance", "project_id", sa.text("importance DESC")),
    )

    seq: int | None = Field(default=None, sa_column=sa.Column(_SEQ, primary_key=True))
    id: str = Field(sa_type=sa.Text, unique=True)
    project_id: str = Field(sa_type=sa.Text, foreign_key="projects.id", ondelete="CASCADE")
    category: str = Field(default="fact", sa_type=sa.Text)
    content: str = Field(sa_type=sa.Text)
    importance: float = 0.5
    access_count: int = Field(default=0, sa_type=sa.BigInteger)
    last_accessed: str | None = Field(default=None, sa_type=sa.Text)
    source: str = Field(default="reflection", sa_type=sa.Text)
    tags: str = Field(default="[]", sa_type=sa.Text)
    pinned: bool = False
    created_at: str = Field(sa_type=sa.Text)
    updated_at: str = Field(sa_type=sa.Text)
    resolved_at: str | None = Field(default=None, sa_type=sa.Text)
    valid_until: str | None = Field(default=None, sa_type=sa.Text)
    pairs: str = Field(default="", sa_type=sa.Text)
    digest: str = Field(sa_type=sa.Text)
    agent: str | None = Field(default=None, sa_type=sa.Text)
    session_id: str | None = Field(default=None, sa_type=sa.Text)


class EmbeddingRow(SQLModel, table=True):
    """One vector, little-endian float32; `model` is the id of its space. A number is never used again."""

    __tablename__ = "memory_embeddings"
    __table_args__ = (
        sa.UniqueConstraint("memory_id", "model", name="uq_embedding"),
        sa.Index("idx_embedding_model", "model", "seq"),
    )

    seq: int | None = Field(default=None, sa_column=sa.Column(_SEQ, primary_key=True))
    memory_id: str = Field(sa_type=sa.Text, foreign_key="memories.id", ondelete="CASCADE")
    embedding: bytes
    model: str = Field(sa_type=sa.Text)
    dimensions: int
    created_at: str = Field(sa_type=sa.Text)


class LinkScanRow(SQLModel, table=True):
    """That the neighbours of a memory in a space have been linked."""

    __tablename__ = "link_scans"

    memory_id: str = Field(
        sa_type=sa.Text, primary_key=True, foreign_key="memories.id", ondelete="CASCADE"
    )
    model: str = Field(sa_type=sa.Text, primary_key=True)
    scanned_at: str = Field(sa_type=sa.Text)


class LinkRow(SQLModel, table=True):
    """An edge: `supersedes` newer to older, `causes` cause to effect, `duplicate` new to existing."""

    __tablename__ = "memory_links"
    __table_args__ = (
        # Those of PostgreSQL are in the migration: naming them here loads that dialect at every start.
        sa.Index("idx_link_source_id", "source_id", sqlite_where=_LIVE),
        sa.Index("idx_link_target_id", "target_id", sqlite_where=_LIVE),
    )

    source_id: str = Field(
        sa_type=sa.Text, primary_key=True, foreign_key="memories.id", ondelete="CASCADE"
    )
    target_id: str = Field(
        sa_type=sa.Text, primary_key=True, foreign_key="memories.id", ondelete="CASCADE"
    )
    relation: str = Field(sa_type=sa.Text, primary_key=True)
    strength: float = 0.5
    source: str = Field(sa_type=sa.Text)
    created_at: str = Field(sa_type=sa.Text)
    invalidated_at: str | None = Field(default=None, sa_type=sa.Text)


class TaskRow(SQLModel, table=True):
    """Something to be done; priority 0 is critical, 4 low."""

    __tablename__ = "tasks"
    __table_args__ = (sa.Index("idx_task_status", "project_id", "status"),)

    seq: int | None = Field(default=None, sa_column=sa.Column(_SEQ, primary_key=True))
    id: str = Field(sa_type=sa.Text, unique=True)
    project_id: str = Field(sa_type=sa.Text, foreign_key="projects.id", ondelete="CASCADE")
    title: str = Field(sa_type=sa.Text)
    description: str = Field(default="", sa_type=sa.Text)
    status: str = Field(default="pending", sa_type=sa.Text)
    priority: int = 2
    blocked_by: str | None = Field(
        default=None, sa_type=sa.Text, foreign_key="tasks.id", ondelete="SET NULL"
    )
    branch: str | None = Field(default=None, sa_type=sa.Text)
    pr_number: int | None = None
    notes: str = Field(default="", sa_type=sa.Text)
    created_at: str = Field(sa_type=sa.Text)
    updated_at: str = Field(sa_type=sa.Text)
    completed_at: str | None = Field(default=None, sa_type=sa.Text)


class DecisionRow(SQLModel, table=True):
    """A choice between alternatives; `memory_id` is the memory that speaks of it."""

    __tablename__ = "decisions"
    __table_args__ = (sa.Index("idx_decision_status", "project_id", "status"),)

    seq: int | None = Field(default=None, sa_column=sa.Column(_SEQ, primary_key=True))
    id: str = Field(sa_type=sa.Text, unique=True)
    project_id: str = Field(sa_type=sa.Text, foreign_key="projects.id", ondelete="CASCADE")
    title: str = Field(sa_type=sa.Text)
    decision: str = Field(sa_type=sa.Text)
    alternatives: str = Field(default="[]", sa_type=sa.Text)
    rationale: str = Field(default="", sa_type=sa.Text)
    status: str = Field(default="active", sa_type=sa.Text)
    superseded_by: str | None = Field(
        default=None, sa_type=sa.Text, foreign_key="decisions.id", ondelete="SET NULL"
    )
    tags: str = Field(default="[]", sa_type=sa.Text)
    memory_id: str | None = Field(
        default=None, sa_type=sa.Text, foreign_key="memories.id", ondelete="SET NULL"
    )
    created_at: str = Field(sa_type=sa.Text)
    updated_at: str = Field(sa_type=sa.Text)


class SnapshotRow(SQLModel, table=True):
    """A memory as it was before a consolidation."""

    __tablename__ = "memory_snapshots"
    __table_args__ = (sa.Index("idx_snapshot", "project_id", "snapshot_id"),)

    id: int | None = Field(default=None, sa_column=sa.Column(_SEQ, primary_key=True))
    snapshot_id: str = Field(sa_type=sa.Text)
    project_id: str = Field(sa_type=sa.Text, foreign_key="projects.id", ondelete="CASCADE")
    memory_id: str = Field(sa_type=sa.Text)
    category: str = Field(sa_type=sa.Text)
    content: str = Field(sa_type=sa.Text)
    importance: float
    source: str = Field(sa_type=sa.Text)
    tags: str = Field(sa_type=sa.Text)
    created_at: str = Field(sa_type=sa.Text)


class UsageRow(SQLModel, table=True):
    """Tokens of one model call; `cost_usd` is a decimal number."""

    __tablename__ = "token_usage"

    id: int | None = Field(default=None, sa_column=sa.Column(_SEQ, primary_key=True))
    project_id: str | None = Field(default=None, sa_type=sa.Text)
    model: str = Field(sa_type=sa.Text)
    input_tokens: int = Field(default=0, sa_type=sa.BigInteger)
    output_tokens: int = Field(default=0, sa_type=sa.BigInteger)
    cache_creation: int = Field(default=0, sa_type=sa.BigInteger)
    cache_read: int = Field(default=0, sa_type=sa.BigInteger)
    cost_usd: str = Field(default="0", sa_type=sa.Text)
    created_at: str = Field(sa_type=sa.Text)
