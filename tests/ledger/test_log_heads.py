"""Heads of a log in a database: signed, remembered, and proven from its tiles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger import heads, tree
from ghost_ledger.bundle import Bundle, encode
from ghost_ledger.checkpoint import open_checkpoint, sign_checkpoint
from ghost_ledger.keys import SecretKey
from ghost_ledger.log_heads import LogHeads
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.verify import verify_bundle
from support.database import prepare
from support.ledger import edit, open_recorder, rows, sealed, spawned, url_of


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with open_recorder(tmp_path) as opened:
        yield opened


def test_a_signed_head_is_the_newest_and_remembered(tmp_path: Path, recorder: Recorder):
    spawned(recorder).act()
    made = LogHeads(recorder.engine, Home(tmp_path))
    vkey, note = made.sign()
    head = open_checkpoint(note, [vkey])
    assert vkey.format() == recorder.log_vkey
    assert head.size == made.size() == rows(tmp_path, "SELECT size FROM log_head")[0]
    assert heads.recall(Home(tmp_path), recorder.origin) == (head.size, head.root)


def test_a_head_that_is_looked_at_is_not_remembered(tmp_path: Path):
    with open_recorder(tmp_path) as opened:
        spawned(opened)
        origin = opened.origin
    for path in Home(tmp_path).heads.glob("*.head"):
        path.unlink()
    made = LogHeads(db.engine(url_of(tmp_path)), Home(tmp_path))
    made.sign(leaves=False)
    assert heads.recall(Home(tmp_path), origin) is None
    made.sign()
    assert heads.recall(Home(tmp_path), origin) is not None


def test_a_log_behind_its_memory_signs_nothing(tmp_path: Path):
    with open_recorder(tmp_path) as opened:
        spawned(opened)
        origin = opened.origin
    heads.remember(Home(tmp_path), origin, 1000, b"r" * 32)
    with pytest.raises(IntegrityError) as caught:
        LogHeads(db.engine(url_of(tmp_path)), Home(tmp_path)).sign()
    assert caught.value.code == "ledger.rollback"


def test_without_a_log_there_is_no_head(tmp_path: Path):
    prepare(tmp_path)
    made = LogHeads(db.engine(url_of(tmp_path)), Home(tmp_path))
    assert made.size() == 0
    with pytest.raises(NotFoundError) as caught:
        made.sign()
    assert caught.value.code == "ledger.missing"


def test_every_two_sizes_are_proven_over_full_tiles(tmp_path: Path):
    with open_recorder(tmp_path) as opened:
        owned = spawned(opened)
        for _ in range(260):
            owned.act()
        made = LogHeads(opened.engine, Home(tmp_path))
        leaves = rows(tmp_path, "SELECT leaf_hash FROM entries ORDER BY idx")
        assert len(leaves) > 2 * 256
        for old, size in ((1, 2), (255, 256), (256, 300), (257, 513), (512, 520), (3, len(leaves))):
            proof = made.consistency(old, size)
            assert proof == tree.consistency_proof(leaves, old, size)
            assert made.root_at(old) == tree.root(leaves[:old])
            tree.verify_consistency(old, size, proof, made.root_at(old), made.root_at(size))


def test_an_edited_leaf_gives_no_proof(tmp_path: Path):
    with open_recorder(tmp_path) as opened:
        spawned(opened).act()
    made = LogHeads(db.engine(url_of(tmp_path)), Home(tmp_path))
    before, size = made.root_at(3), made.size()
    end = made.root_at(size)
    edit(tmp_path, "UPDATE entries SET leaf_hash = ? WHERE idx = 1", b"x" * 32)
    with pytest.raises(IntegrityError):
        tree.verify_consistency(3, size, made.consistency(3, size), before, end)
    assert made.root_at(3) != before


def _bundled(tmp_path: Path, recorder: Recorder, sid: str) -> Bundle:
    return Ledger(recorder.engine, Home(tmp_path)).bundle(sid)


def test_a_bundle_proves_what_leads_from_a_head_that_was_kept(tmp_path: Path, recorder: Recorder):
    made = LogHeads(recorder.engine, Home(tmp_path))
    sealed(recorder)
    vkey, kept = made.sign()
    plain = _bundled(tmp_path, recorder, sealed(recorder))
    key = [vkey.format()]
    assert verify_bundle(encode(plain), key, head=kept).axis("head").state == "incomplete"
    proven = verify_bundle(encode(made.continuing(plain, kept)), key, head=kept)
    assert (proven.axis("head").state, proven.exit_code) == ("valid", 0)


def test_a_head_of_the_same_size_needs_no_proof(tmp_path: Path, recorder: Recorder):
    made = LogHeads(recorder.engine, Home(tmp_path))
    plain = _bundled(tmp_path, recorder, sealed(recorder))
    assert made.continuing(plain, made.sign()[1]) == plain


@pytest.mark.parametrize(
    ("origin", "size", "root"),
    [(None, 3, b"r" * 32), (None, 10_000, b"r" * 32), ("ghost.local/other", 3, None)],
)
def test_a_head_that_the_log_never_had_is_refused(
    tmp_path: Path, recorder: Recorder, origin: str | None, size: int, root: bytes | None
):
    made = LogHeads(recorder.engine, Home(tmp_path))
    plain = _bundled(tmp_path, recorder, sealed(recorder))
    name, top = origin or recorder.origin, root or made.root_at(size)
    forged = sign_checkpoint(SecretKey.generate(), name, size, top)
    with pytest.raises(IntegrityError, match="none that this log ever had") as caught:
        made.continuing(plain, forged)
    assert caught.value.code == "ledger.fork"
