"""What may be missing in a log: as many entries as seals and statements say, no more and no fewer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.entry import Entry
from ghost_ledger.note import Line
from ghost_ledger.tiles import WIDTH
from ghost_ledger.verify.evidence import Leaf
from ghost_ledger.verify.pruning import TILE, Gaps, UnstatedError

ROOT = b"\x07" * 32


def said(**fields: Any) -> Entry:
    known = {"old_minimum": 0, "new_minimum": 256, "count": 200, "root": ROOT.hex(), **fields}
    return _entry("log.pruned", known)


def spawn(*, system: bool = True) -> Leaf:
    read = _entry("session.spawn", {"system": True} if system else {})
    return Leaf(read, Line("n", b"", b""), b"", None)


def _entry(type_: str, fields: Mapping[str, Any]) -> Entry:
    return Entry(1, type_, "log", "gh_0", 1, "0" * 64, 0, "ent_0", fields, b"")


def gaps(*claimed: int) -> Gaps:
    found = Gaps(claimed)
    for size in (255, 256, 300, 512):
        found.passed(size, lambda: ROOT)
    return found


def test_the_tiles_are_those_that_are_stored() -> None:
    assert TILE == WIDTH


def test_a_log_that_was_not_pruned_has_no_gap_and_says_nothing() -> None:
    found = Gaps()
    assert (found.minimum, found.said) == (0, False)
    found.finish()


def test_two_prunings_follow_each_other() -> None:
    found = gaps(256, 512)
    assert found.minimum == 512
    found.take(600, said(), spawn())
    found.take(700, said(old_minimum=256, new_minimum=512, count=20), spawn())
    found.seal(10, 150)
    found.seal(255, 50)
    found.seal(256, 20)
    found.missing = 220
    assert found.finish().startswith("220 entries of 3 sessions pruned below 512")


@pytest.mark.parametrize(
    ("fields", "idx", "why"),
    [
        ({"old_minimum": 256}, 600, "old minimum is 256, expected 0"),
        ({"new_minimum": 255}, 600, "full tiles"),
        ({"new_minimum": 512}, 511, "full tiles"),
        ({"new_minimum": 0}, 600, "full tiles"),
        ({"new_minimum": 1024}, 2000, "another root at size 1024"),
        ({"root": "0" * 64}, 600, "another root at size 256"),
    ],
)
def test_an_entry_that_cannot_be_true_is_refused(
    fields: dict[str, Any], idx: int, why: str
) -> None:
    with pytest.raises(IntegrityError, match=why):
        gaps(256, 512).take(idx, said(**fields), spawn())


def test_only_the_recorder_may_say_so() -> None:
    with pytest.raises(IntegrityError, match="not the recorder's own"):
        gaps(256).take(600, said(), spawn(system=False))


@pytest.mark.parametrize(
    ("missing", "sizes", "why"),
    [
        (200, [199], "the seals that are left held 199"),
        (201, [201], "the seals that are left held 201"),
        (199, [200], "200 entries were pruned, 199 are missing"),
        (201, [200], "200 entries were pruned, 201 are missing"),
        (0, [], "held 0"),
    ],
)
def test_the_counts_must_agree(missing: int, sizes: list[int], why: str) -> None:
    found = gaps(256)
    found.take(600, said(), spawn())
    for size in sizes:
        found.seal(7, size)
    found.missing = missing
    with pytest.raises(UnstatedError, match=why) as caught:
        found.finish()
    assert caught.value.idx == 600
