"""Compressed bodies that are the same bytes in every process, so that a test's name is too."""

from __future__ import annotations

import gzip


def gzipped(data: bytes) -> bytes:
    """Return one gzip member (RFC 1952) without the time of its making."""
    return gzip.compress(data, mtime=0)
