"""The rules of a whole log, fed row by row without a database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.entry import open_leaf, parse_envelope
from ghost_ledger.note import Vkey
from ghost_ledger.tree import leaf_hash
from ghost_ledger.verify.log import BadEntryError, Log, Row, columns
from support.bundles import ORIGIN, key
from support.bundles import Log as Made


def _row(idx: int, note: bytes) -> Row:
    body, line = open_leaf(note)
    read = parse_envelope(body)
    return Row(
        idx, read.sid, read.seq, bytes.fromhex(read.prev), read.type, read.id, read.ts, body,
        line.signature, leaf_hash(note),
    )  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Two sessions at once: the first is sealed, the second lives."""
    made = Made()
    first = made.session()
    first.action()
    first.finish()
    second = made.session(8)
    second.action()
    notes = sorted([*first.notes, *second.notes], key=lambda note: _row(0, note).ts)
    return [_row(idx, note) for idx, note in enumerate(notes)]


def _fed(rows: list[Row], *, fast: bool = False) -> Log:
    log = Log(ORIGIN, Vkey(ORIGIN, key(1).public).format(), fast)
    for row in rows:
        log.feed(row)
    return log


def test_a_whole_log_is_read_to_its_end(rows: list[Row]) -> None:
    log = _fed(rows)
    assert (log.frontier.size, log.sealed, log.open, log.pending) == (len(rows), 1, 1, 0)
    assert log.answered == 1
    assert log.unreadable == ""


@pytest.mark.parametrize("at", range(5))
def test_a_gap_names_the_missing_index(rows: list[Row], at: int) -> None:
    with pytest.raises(BadEntryError, match="is missing") as caught:
        _fed([*rows[:at], *rows[at + 1 :]])
    assert (caught.value.idx, caught.value.axis) == (at, "entries")


def test_what_follows_a_seal_is_refused(rows: list[Row]) -> None:
    sealed = next(row for row in rows if row.type == "session.seal").idx
    first = next(row for row in rows if row.sid == rows[0].sid and row.seq == 1)
    again = replace(first, idx=sealed + 1)
    with pytest.raises(BadEntryError, match="follows the seal"):
        _fed([*rows[: sealed + 1], again])


def test_a_session_without_spawn_is_refused(rows: list[Row]) -> None:
    with pytest.raises(BadEntryError, match="without session.spawn"):
        _fed([replace(next(row for row in rows if row.seq == 1), idx=0)])


def test_another_log_and_another_log_key_are_refused(rows: list[Row]) -> None:
    read = parse_envelope(rows[0].body)
    with pytest.raises(BadEntryError, match="is of log"):
        Log("ghost.local/other", str(read.fields["log_vkey"])).feed(rows[0])
    log = Log(read.log, "other")
    log.feed(rows[0])
    with pytest.raises(IntegrityError, match="the head names the key other"):
        log.succession.finish(log.vkey)


def test_a_signature_is_checked_unless_fast_and_the_leaf_always(rows: list[Row]) -> None:
    forged = replace(rows[1], sig=bytes(64))
    for fast in (False, True):
        with pytest.raises(BadEntryError, match="leaf_hash"):
            _fed([rows[0], forged], fast=fast)


def test_each_column_that_differs_is_named(rows: list[Row]) -> None:
    row = rows[1]
    read, other = parse_envelope(row.body), replace(row, ts=1, id="ent_x")
    assert [name for name, _, _ in columns(other, read, row.leaf_hash)] == ["id", "ts"]
    assert list(columns(row, read, row.leaf_hash)) == []
