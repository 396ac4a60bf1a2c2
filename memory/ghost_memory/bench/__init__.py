"""Measures retrieval, offline and without a judge: graded queries, stale facts, recency traps."""
