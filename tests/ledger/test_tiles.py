"""Tiles: the subtree hashes they serve are those of the tree over all leaves."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core import db
from ghost_ledger import tiles, tree
from support.ledger import url_of

SIZE = 700
LEAVES = [hashlib.sha256(str(number).encode()).digest() for number in range(SIZE)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    engine = db.engine(url_of(tmp_path_factory.mktemp("tiles")))
    db.migrate(engine)
    rows = [
        (idx, "s", idx, prev, "t", str(idx), 0, b"", b"", leaf)
        for idx, (prev, leaf) in enumerate(itertools.pairwise([bytes(32), *LEAVES]))
    ]
    marks = ", ".join("?" * 10)
    with db.write(engine) as connection:
        connection.exec_driver_sql(f"INSERT INTO entries VALUES ({marks})", rows)
        for old in range(0, SIZE, 100):
            tiles.write_full(connection, old_size=old, new_size=old + 100)
    with db.read(engine) as connection:
        yield connection
    engine.dispose()


def test_full_tiles_are_written_once_each(log: Connection):
    found = log.exec_driver_sql("SELECT level, number, length(hashes) FROM tiles").all()
    assert sorted(tuple(row) for row in found) == [(0, 0, 8192), (0, 1, 8192)]


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 512, 513, 699, 700])
def test_an_earlier_root_is_found_again(log: Connection, size: int):
    assert tiles.root_at(log, size) == tree.root(LEAVES[:size])


def test_the_root_of_nothing_is_the_empty_root(log: Connection):
    assert tiles.root_at(log, 0) == tree.EMPTY


@pytest.mark.parametrize("index", [0, 255, 256, 511, 512, 699])
def test_an_inclusion_proof_from_tiles_leads_to_the_root(log: Connection, index: int):
    proof = tree.inclusion_proof(tiles.nodes(log), index, SIZE)
    tree.verify_inclusion(LEAVES[index], index, SIZE, proof, tree.root(LEAVES))


@pytest.mark.parametrize("size", [1, 256, 300, 512, 699])
def test_a_consistency_proof_from_tiles_holds(log: Connection, size: int):
    proof = tree.consistency_proof(tiles.nodes(log), size, SIZE)
    roots = tree.root(LEAVES[:size]), tree.root(LEAVES)
    tree.verify_consistency(size, SIZE, proof, *roots)


def test_the_second_level_is_made_of_the_roots_of_the_first(tmp_path: Path):
    engine = db.engine(url_of(tmp_path))
    db.migrate(engine)
    roots = [hashlib.sha256(b"r%d" % number).digest() for number in range(256)]
    with db.write(engine) as connection:
        rows = [(0, number, b"", root) for number, root in enumerate(roots[:255])]
        connection.exec_driver_sql("INSERT INTO tiles VALUES (?, ?, ?, ?)", rows)
        connection.exec_driver_sql("INSERT INTO tiles VALUES (0, 255, ?, ?)", (b"", roots[255]))
        assert tiles.nodes(connection)(9, 1) == tree.node_hash(roots[2], roots[3])
        tiles._write(connection, 1, 0)
        assert tiles.nodes(connection)(16, 0) == tree.root(roots)
    engine.dispose()


def test_a_proof_reads_no_tile_twice(log: Connection):
    read: list[object] = []
    sa.event.listen(log, "before_cursor_execute", lambda *said: read.append(said[3]))
    tree.inclusion_proof(tiles.nodes(log), 300, SIZE)
    assert len({str(each) for each in read}) == len(read) <= 6
