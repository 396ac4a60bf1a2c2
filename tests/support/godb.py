"""A `ghost.db` as the Go program of the public origin leaves it: its tables, a few rows of every kind."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

TABLES = """
CREATE TABLE projects (id TEXT PRIMARY KEY, path TEXT UNIQUE NOT NULL, name TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')));
CREATE TABLE memories (id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  category TEXT NOT NULL DEFAULT 'fact', content TEXT NOT NULL, importance REAL NOT NULL DEFAULT 0.5,
  access_count INTEGER NOT NULL DEFAULT 0, last_accessed TEXT, source TEXT NOT NULL DEFAULT 'reflection',
  tags TEXT DEFAULT '[]', pinned INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  resolved_at TEXT);
CREATE TABLE memory_embeddings (memory_id TEXT PRIMARY KEY, embedding BLOB, model TEXT, created_at TEXT);
CREATE TABLE memory_links (source_id TEXT NOT NULL, target_id TEXT NOT NULL, relation TEXT NOT NULL,
  strength REAL NOT NULL DEFAULT 0.5, source TEXT NOT NULL, created_at TEXT NOT NULL, invalidated_at TEXT,
  PRIMARY KEY (source_id, target_id, relation));
CREATE TABLE link_scans (memory_id TEXT PRIMARY KEY, scanned_at TEXT);
CREATE TABLE ghost_state (project_id TEXT PRIMARY KEY, interaction_count INTEGER NOT NULL DEFAULT 0,
  learned_context TEXT NOT NULL DEFAULT '', last_reflection_at TEXT, reflection_summary TEXT, updated_at TEXT);
CREATE TABLE tasks (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, title TEXT NOT NULL, description TEXT,
  status TEXT NOT NULL DEFAULT 'pending', priority INTEGER NOT NULL DEFAULT 2, blocked_by TEXT, branch TEXT,
  pr_number INTEGER, notes TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, completed_at TEXT);
CREATE TABLE decisions (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, title TEXT NOT NULL,
  decision TEXT NOT NULL, alternatives TEXT, rationale TEXT, status TEXT NOT NULL DEFAULT 'active',
  superseded_by TEXT, tags TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE memory_snapshots (id INTEGER PRIMARY KEY, snapshot_id TEXT NOT NULL, project_id TEXT NOT NULL,
  category TEXT, content TEXT, importance REAL, source TEXT, tags TEXT, created_at TEXT);
CREATE TABLE token_usage (id INTEGER PRIMARY KEY, project_id TEXT);
CREATE TABLE audit_log (id INTEGER PRIMARY KEY, action TEXT);
PRAGMA user_version = 4;
"""
OLD, NEW = "0A" * 16, "0B" * 16
ROWS = f"""
INSERT INTO projects VALUES ('a1b2c3d4e5f6', '/home/dev/src/shop', 'shop', '2026-01-02 03:04:05', '2026-01-02 03:04:05');
INSERT INTO projects VALUES ('infra', 'infra', 'infra', '2026-01-02 03:04:05', '2026-01-02 03:04:05');
INSERT INTO projects VALUES ('_global', '_global', 'global', '2026-01-02 03:04:05', '2026-01-02 03:04:05');
INSERT INTO memories VALUES ('{OLD}', 'a1b2c3d4e5f6', 'decision', 'checkout runs on port 8080', 0.8, 3,
  '2026-02-01 00:00:00', 'mcp', '["net","ports"]', 1, '2026-01-03 00:00:00', '2026-01-04 00:00:00', NULL);
INSERT INTO memories VALUES ('{NEW}', 'a1b2c3d4e5f6', 'decision', 'checkout runs on port 9090', 0.9, 0,
  NULL, 'builtin', NULL, 0, '2026-03-03 00:00:00', '2026-03-03 00:00:00', '2026-04-01 00:00:00');
INSERT INTO memories VALUES ('{"0C" * 16}', 'infra', 'gotcha', '', 0.5, 0, NULL, 'mcp', '[]', 0,
  '2026-01-03 00:00:00', '2026-01-03 00:00:00', NULL);
INSERT INTO memories VALUES ('{"0D" * 16}', '_global', 'preference', 'prefer short answers', 1, 0, NULL,
  'manual', '[]', 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00', NULL);
INSERT INTO memory_links VALUES ('{NEW}', '{OLD}', 'supersedes', 1.0, 'llm', '2026-03-04 00:00:00', NULL);
INSERT INTO memory_links VALUES ('{NEW}', 'gone', 'related', 0.9, 'auto', '2026-03-04 00:00:00', NULL);
INSERT INTO ghost_state VALUES ('a1b2c3d4e5f6', 7, 'a web shop', NULL, NULL, '2026-03-04 00:00:00');
INSERT INTO tasks VALUES ('{"1A" * 16}', 'infra', 'first', NULL, 'pending', 1, '{"1B" * 16}', NULL, NULL, NULL,
  '2026-01-03 00:00:00', '2026-01-03 00:00:00', NULL);
INSERT INTO tasks VALUES ('{"1B" * 16}', 'infra', 'second', 'text', 'done', 2, NULL, 'main', 12, 'n',
  '2026-01-03 00:00:00', '2026-01-03 00:00:00', '2026-01-05 00:00:00');
INSERT INTO decisions VALUES ('{"2A" * 16}', 'infra', 'old', 'this', '["that"]', 'because', 'superseded',
  '{"2B" * 16}', '[]', '2026-01-03 00:00:00', '2026-01-03 00:00:00');
INSERT INTO decisions VALUES ('{"2B" * 16}', 'infra', 'new', 'that', NULL, 'because', 'active', NULL, NULL,
  '2026-01-04 00:00:00', '2026-01-04 00:00:00');
INSERT INTO memory_snapshots VALUES (1, 'infra-1700000000', 'infra', 'fact', 'as it was', 0.5, 'mcp', '[]',
  '2026-01-04 00:00:00');
"""


def go_database(file: Path, *, wal: bool = False) -> Path:
    """Write one; with `wal` its last rows lie in the write-ahead log, as after a crash."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "ghost.db"
        with closing(sqlite3.connect(made)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(TABLES)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.executescript(ROWS)
            if wal:
                for end in ("", "-wal"):
                    shutil.copy(f"{made}{end}", f"{file}{end}")
        if not wal:
            shutil.copy(made, file)
    return file
