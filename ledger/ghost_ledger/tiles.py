"""Full 256-wide tiles of the log tree, written once, and the subtree hashes that proofs need.

The layout is that of C2SP tlog-tiles; a partial tile is read from the entries or, above level 0,
from the roots of the tiles below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_ledger import tree

__all__ = ["WIDTH", "at", "node", "root_at", "write_full"]

WIDTH: Final = 256
_HEIGHT: Final = 8
_HASH: Final = tree.HASH_BYTES
_TILE: Final = sa.text("SELECT hashes FROM tiles WHERE level = :level AND number = :number")
_LEAVES: Final = sa.text(
    "SELECT leaf_hash FROM entries WHERE idx BETWEEN :first AND :last ORDER BY idx"
)
_BELOW: Final = sa.text(
    "SELECT root FROM tiles WHERE level = :level AND number BETWEEN :first AND :last"
    " ORDER BY number"
)
_INSERT: Final = sa.text(
    "INSERT INTO tiles (level, number, hashes, root) VALUES (:level, :number, :hashes, :root)"
)


def write_full(connection: Connection, *, old_size: int, new_size: int) -> None:
    """Write every tile that became full between the two sizes, all levels."""
    level, old, new = 0, old_size // WIDTH, new_size // WIDTH
    while new > old:
        for number in range(old, new):
            _write(connection, level, number)
        level, old, new = level + 1, old // WIDTH, new // WIDTH


def node(connection: Connection, level: int, index: int) -> bytes:
    """Return the hash of the perfect subtree whose leaves start at `index << level`."""
    high, low = divmod(level, _HEIGHT)
    return tree.root(_hashes(connection, high, index << low, 1 << low))


def at(hashes: bytes, index: int) -> bytes:
    """Return the hash of a leaf out of the hashes of its tile."""
    start = index % WIDTH * _HASH
    return hashes[start : start + _HASH]


def root_at(connection: Connection, size: int) -> bytes:
    """Return the root that the log had at an earlier size, from its perfect subtrees."""
    result, end = None, size
    while end:
        level = (end & -end).bit_length() - 1
        left = node(connection, level, (end >> level) - 1)
        result = left if result is None else tree.node_hash(left, result)
        end -= 1 << level
    return tree.EMPTY if result is None else result


def _write(connection: Connection, level: int, number: int) -> None:
    hashes = _hashes(connection, level, number * WIDTH, WIDTH)
    tile = {"hashes": b"".join(hashes), "root": tree.root(hashes)}
    connection.execute(_INSERT, {"level": level, "number": number, **tile})


def _hashes(connection: Connection, level: int, start: int, count: int) -> Sequence[bytes]:
    """Return consecutive hashes of a tile level, all within one tile."""
    tile = connection.execute(_TILE, {"level": level, "number": start // WIDTH}).scalar()
    if tile is not None:
        offset = start % WIDTH
        return [at(tile, place) for place in range(offset, offset + count)]
    span = {"first": start, "last": start + count - 1}
    if level == 0:
        return list(connection.execute(_LEAVES, span).scalars())
    return list(connection.execute(_BELOW, {"level": level - 1, **span}).scalars())
