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

__all__ = ["WIDTH", "at", "nodes", "root_at", "write_full"]

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


def nodes(connection: Connection) -> tree.Nodes:
    """Give the hashes of perfect subtrees; each tile is read once, for neighbours of a path share theirs."""
    read: dict[tuple[int, int], Sequence[bytes]] = {}

    def node(level: int, index: int) -> bytes:
        high, low = divmod(level, _HEIGHT)
        number, start = divmod(index << low, WIDTH)
        if (high, number) not in read:
            read[high, number] = _hashes(connection, high, number)
        return tree.root(read[high, number][start : start + (1 << low)])

    return node


def at(hashes: bytes, index: int) -> bytes:
    """Return the hash of a leaf out of the hashes of its tile."""
    start = index % WIDTH * _HASH
    return hashes[start : start + _HASH]


def root_at(connection: Connection, size: int) -> bytes:
    """Return the root that the log had at an earlier size, from its perfect subtrees."""
    result, end, node = None, size, nodes(connection)
    while end:
        level = (end & -end).bit_length() - 1
        left = node(level, (end >> level) - 1)
        result = left if result is None else tree.node_hash(left, result)
        end -= 1 << level
    return tree.EMPTY if result is None else result


def _write(connection: Connection, level: int, number: int) -> None:
    hashes = _hashes(connection, level, number)
    tile = {"hashes": b"".join(hashes), "root": tree.root(hashes)}
    connection.execute(_INSERT, {"level": level, "number": number, **tile})


def _hashes(connection: Connection, level: int, number: int) -> Sequence[bytes]:
    """Return the hashes of a tile, fewer than its width where it is not full."""
    tile = connection.execute(_TILE, {"level": level, "number": number}).scalar()
    if tile is not None:
        return [at(tile, each) for each in range(WIDTH)]
    span = {"first": number * WIDTH, "last": (number + 1) * WIDTH - 1}
    if level == 0:
        return list(connection.execute(_LEAVES, span).scalars())
    return list(connection.execute(_BELOW, {"level": level - 1, **span}).scalars())
