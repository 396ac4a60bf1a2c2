"""Memory: the seed's tables beside the ledger, full-text search, and the audit log as a view of the entries.

`memories.seq` is the order of writing and what full-text rows point at. Times are RFC 3339 UTC text with six
digits, so text order is time order.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_SEQ = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_CATEGORIES = (
    "architecture", "decision", "pattern", "convention", "gotcha", "dependency", "preference", "fact",
)  # fmt: skip
_SOURCES = (
    "reflection", "chat", "manual", "tool", "mcp", "onboarding", "decision_log", "import",
)  # fmt: skip
_RELATIONS = (
    "related", "supersedes", "contradicts", "elaborates", "causes", "duplicate",
)  # fmt: skip


def upgrade() -> None:
    """Create everything that memory keeps."""
    _projects()
    _memories()
    _vectors()
    _links()
    _work()
    _snapshots()
    search, audit = _KINDS[op.get_bind().dialect.name]
    search()
    op.execute(audit)


def _one_of(column: str, names: tuple[str, ...]) -> sa.CheckConstraint:
    listed = ", ".join(f"'{name}'" for name in names)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"ck_{column}")


def _project(*, cascade: bool = True) -> sa.Column[str]:
    reference = sa.ForeignKey("projects.id", ondelete="CASCADE" if cascade else None)
    return sa.Column("project_id", sa.Text(), reference, nullable=False)


def _memory(name: str, *, primary: bool = True) -> sa.Column[str]:
    reference = sa.ForeignKey("memories.id", ondelete="CASCADE")
    return sa.Column(name, sa.Text(), reference, primary_key=primary, nullable=False)


def _text(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null, server_default=default)


def _projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("path", sa.Text(), nullable=False, unique=True),
        _text("name"),
        _text("created_at"),
        _text("updated_at"),
        _text("repo_remote", null=True),
    )
    op.create_table(
        "project_checkouts",
        sa.Column("path", sa.Text(), primary_key=True),
        _project(),
        _text("bound_at"),
    )
    op.create_table(
        "ghost_state",
        sa.Column(
            "project_id",
            sa.Text(),
            sa.ForeignKey("projects.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("interaction_count", sa.BigInteger(), nullable=False, server_default="0"),
        _text("learned_context", default=""),
        _text("last_reflection_at", null=True),
        _text("reflection_summary", default=""),
        _text("updated_at"),
    )


def _memories() -> None:
    op.create_table(
        "memories",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text(), nullable=False, unique=True),
        _project(),
        _text("category", default="fact"),
        _text("content"),
        sa.Column("importance", sa.Float(), nullable=False, server_default="0.5"),
        sa.Column("access_count", sa.BigInteger(), nullable=False, server_default="0"),
        _text("last_accessed", null=True),
        _text("source", default="reflection"),
        _text("tags", default="[]"),
        sa.Column("pinned", sa.Boolean(), nullable=False, server_default=sa.false()),
        _text("created_at"),
        _text("updated_at"),
        _text("resolved_at", null=True),
        _text("valid_until", null=True),
        _text("pairs", default=""),
        _text("digest"),
        _text("agent", null=True),
        _text("session_id", null=True),
        _one_of("category", _CATEGORIES),
        _one_of("source", _SOURCES),
        sqlite_autoincrement=True,
    )
    op.create_index("idx_memory_category", "memories", ["project_id", "category"])
    op.create_index("idx_memory_source", "memories", ["project_id", "source"])
    op.create_index("idx_memory_digest", "memories", ["project_id", "digest"])
    op.create_index(  # passive ranking reads nothing but this
        "idx_memory_importance",
        "memories",
        [
            "project_id",
            sa.text("importance DESC"),
            *("category", "created_at", "pinned", "resolved_at", "valid_until", "id"),
        ],
    )


def _vectors() -> None:
    """Vectors of several spaces may lie side by side; `seq` tells what came since a look, and what went."""
    op.create_table(
        "memory_embeddings",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        _memory("memory_id", primary=False),
        sa.Column("embedding", sa.LargeBinary(), nullable=False),
        _text("model"),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        _text("created_at"),
        sa.UniqueConstraint("memory_id", "model", name="uq_embedding"),
        sqlite_autoincrement=True,
    )
    op.create_index("idx_embedding_model", "memory_embeddings", ["model", "seq"])
    op.create_table(
        "link_scans",
        _memory("memory_id"),
        sa.Column("model", sa.Text(), primary_key=True),
        _text("scanned_at"),
    )


def _links() -> None:
    op.create_table(
        "memory_links",
        _memory("source_id"),
        _memory("target_id"),
        sa.Column("relation", sa.Text(), primary_key=True),
        sa.Column("strength", sa.Float(), nullable=False, server_default="0.5"),
        _text("source"),
        _text("created_at"),
        _text("invalidated_at", null=True),
        _one_of("relation", _RELATIONS),
        sa.CheckConstraint("source IN ('auto', 'llm', 'manual')", name="ck_link_source"),
        sa.CheckConstraint("source_id <> target_id", name="ck_link_self"),
    )
    live = sa.text("invalidated_at IS NULL")
    for end in ("source_id", "target_id"):
        op.create_index(
            f"idx_link_{end}", "memory_links", [end], sqlite_where=live, postgresql_where=live
        )


def _work() -> None:
    op.create_table(
        "tasks",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text(), nullable=False, unique=True),
        _project(),
        _text("title"),
        _text("description", default=""),
        _text("status", default="pending"),
        sa.Column("priority", sa.Integer(), nullable=False, server_default="2"),
        sa.Column("blocked_by", sa.Text(), sa.ForeignKey("tasks.id", ondelete="SET NULL")),
        _text("branch", null=True),
        sa.Column("pr_number", sa.Integer(), nullable=True),
        _text("notes", default=""),
        _text("created_at"),
        _text("updated_at"),
        _text("completed_at", null=True),
        _one_of("status", ("pending", "active", "done", "blocked")),
        sa.CheckConstraint("priority BETWEEN 0 AND 4", name="ck_priority"),
        sqlite_autoincrement=True,
    )
    op.create_index("idx_task_status", "tasks", ["project_id", "status"])
    op.create_table(
        "decisions",
        sa.Column("seq", _SEQ, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text(), nullable=False, unique=True),
        _project(),
        _text("title"),
        _text("decision"),
        _text("alternatives", default="[]"),
        _text("rationale", default=""),
        _text("status", default="active"),
        sa.Column("superseded_by", sa.Text(), sa.ForeignKey("decisions.id", ondelete="SET NULL")),
        _text("tags", default="[]"),
        sa.Column("memory_id", sa.Text(), sa.ForeignKey("memories.id", ondelete="SET NULL")),
        _text("created_at"),
        _text("updated_at"),
        _one_of("status", ("active", "superseded", "revisit")),
        sqlite_autoincrement=True,
    )
    op.create_index("idx_decision_status", "decisions", ["project_id", "status"])


def _snapshots() -> None:
    op.create_table(
        "memory_snapshots",
        sa.Column("id", _SEQ, primary_key=True, autoincrement=True),
        _text("snapshot_id"),
        _project(),
        _text("memory_id"),
        _text("category"),
        _text("content"),
        sa.Column("importance", sa.Float(), nullable=False),
        _text("source"),
        _text("tags"),
        _text("created_at"),
    )
    op.create_index("idx_snapshot", "memory_snapshots", ["project_id", "snapshot_id"])
    op.create_table(
        "token_usage",
        sa.Column("id", _SEQ, primary_key=True, autoincrement=True),
        _text("project_id", null=True),
        _text("model"),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")
            for name in ("input_tokens", "output_tokens", "cache_creation", "cache_read")
        ),
        _text("cost_usd", default="0"),
        _text("created_at"),
    )


def _sqlite_search() -> None:
    """Index content, tags and character pairs; an update that changes none of them touches no index."""
    op.execute(
        "CREATE VIRTUAL TABLE memories_fts USING fts5(content, tags, pairs,"
        " content='memories', content_rowid='seq', tokenize='porter unicode61')"
    )
    gone = (
        "INSERT INTO memories_fts(memories_fts, rowid, content, tags, pairs)"
        " VALUES ('delete', OLD.seq, OLD.content, OLD.tags, OLD.pairs);"
    )
    come = (
        "INSERT INTO memories_fts(rowid, content, tags, pairs)"
        " VALUES (NEW.seq, NEW.content, NEW.tags, NEW.pairs);"
    )
    changed = (
        "OLD.content IS NOT NEW.content OR OLD.tags IS NOT NEW.tags OR OLD.pairs IS NOT NEW.pairs"
    )
    op.execute(f"CREATE TRIGGER memories_insert AFTER INSERT ON memories BEGIN {come} END")
    op.execute(f"CREATE TRIGGER memories_delete AFTER DELETE ON memories BEGIN {gone} END")
    op.execute(
        f"CREATE TRIGGER memories_update AFTER UPDATE ON memories WHEN {changed} BEGIN {gone} {come} END"
    )


def _postgres_search() -> None:
    """Index the same words: folded, without accents, split at what is neither letter nor digit.

    Words are stemmed, and none is left out: which words say nothing is decided where a question is asked.
    """
    folded = "text" if _has_icu() is None else 'text COLLATE "und-x-icu"'
    op.execute(
        "CREATE FUNCTION ghost_words(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE"
        f" RETURN translate(regexp_replace(normalize(lower({folded}), NFKD), '[\u0300-\u036f]', '', 'g'),"
        f" $marks${_MARKS}$marks$, repeat(' ', {len(_MARKS)}))"
    )
    op.execute("CREATE TEXT SEARCH DICTIONARY ghost_stem (TEMPLATE = snowball, Language = english)")
    op.execute("CREATE TEXT SEARCH CONFIGURATION ghost (COPY = simple)")
    op.execute(
        "ALTER TEXT SEARCH CONFIGURATION ghost ALTER MAPPING FOR asciiword, word, numword WITH ghost_stem"
    )
    op.execute(
        "ALTER TABLE memories ADD COLUMN memories_fts tsvector GENERATED ALWAYS AS ("
        "setweight(to_tsvector('ghost', ghost_words(content)), 'A')"
        " || setweight(to_tsvector('ghost', ghost_words(tags)), 'B')"
        " || setweight(to_tsvector('ghost', ghost_words(pairs)), 'A')) STORED"
    )
    op.execute("CREATE INDEX idx_memory_fts ON memories USING gin (memories_fts)")


def _has_icu() -> object:
    query = sa.text("SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'")
    return op.get_bind().execute(query).scalar()


_MARKS = (
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\t\n\r"
    "\u00a0\u00a1\u00ab\u00b7\u00bb\u00bf\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026"
    "\u2190\u2192\u2212\u3001\u3002\u300c\u300d\u300e\u300f\u30fb\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
)

# Who changed what, as the seed's `audit_log`; nothing can be written to it but entries.
_SQLITE_AUDIT = """\
CREATE VIEW audit_log AS
SELECT idx AS id,
       strftime('%Y-%m-%dT%H:%M:%S', ts / 1000000, 'unixepoch')
         || printf('.%06dZ', ts % 1000000) AS timestamp,
       json_extract(CAST(body AS TEXT), '$.change') AS action,
       json_extract(CAST(body AS TEXT), '$.project') AS project_id,
       json_extract(CAST(body AS TEXT), '$.by') AS user,
       CAST(body AS TEXT) AS details
FROM entries
WHERE type IN ('memory.changed', 'claim.changed')"""

_POSTGRES_AUDIT = """\
CREATE VIEW audit_log AS
SELECT idx AS id,
       to_char((timestamptz 'epoch' + ts * interval '1 microsecond') AT TIME ZONE 'UTC',
               'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS timestamp,
       convert_from(body, 'UTF8')::json ->> 'change' AS action,
       convert_from(body, 'UTF8')::json ->> 'project' AS project_id,
       convert_from(body, 'UTF8')::json ->> 'by' AS "user",
       convert_from(body, 'UTF8') AS details
FROM entries
WHERE type IN ('memory.changed', 'claim.changed')"""

_KINDS = {
    "sqlite": (_sqlite_search, _SQLITE_AUDIT),
    "postgresql": (_postgres_search, _POSTGRES_AUDIT),
}
