"""The oldest entries go and are called pruned (D8): every variant is INVALID, and its index is named."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ghost_core import ids
from ghost_core.errors import IntegrityError
from ghost_core.migrations.prune_guards import SQLITE_PRUNE_GUARDS
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft
from support.ledger import edit, open_recorder, raw, rows, script, spawned
from support.pruning import EVER, Grown, audited, grown, wrong


@dataclass(frozen=True, slots=True)
class Made:
    """A home whose log was pruned, the same before, and where the entry stands that says so."""

    folder: Path
    before: Path
    sids: Grown
    said: int
    fields: Mapping[str, Value]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder, before = tmp_path_factory.mktemp("pruned"), tmp_path_factory.mktemp("before") / "home"
    with open_recorder(folder) as recorder:
        sids = grown(recorder)
    shutil.copytree(folder, before)
    with open_recorder(folder) as recorder:
        plan, (said,) = recorder.prune(EVER)
    fields: dict[str, Value] = {
        "old_minimum": plan.old_minimum,
        "new_minimum": plan.new_minimum,
        "count": plan.count,
        "root": plan.root.hex(),
    }
    return Made(folder, before, sids, said.idx, fields)


@pytest.fixture
def folder(tmp_path: Path, made: Made) -> Path:
    return shutil.copytree(made.folder, tmp_path / "home")


@pytest.fixture
def unpruned(tmp_path: Path, made: Made) -> Path:
    return shutil.copytree(made.before, tmp_path / "home")


def _places(folder: Path, query: str) -> list[int]:
    return rows(folder, f"SELECT idx FROM entries WHERE {query} ORDER BY idx")


def _bad(folder: Path) -> tuple[int, int | None, set[str]]:
    found = audited(folder)
    fast = audited(folder, fast=True)
    assert (found.exit_code, fast.exit_code) == (7, 7)
    return found.exit_code, found.first_bad, set(wrong(found)) - {"head"}


def _gone(made: Made) -> str:
    sids = ", ".join(f"'{sid}'" for sid in made.sids.gone)
    return f"sid IN ({sids}) AND type <> 'session.seal'"


def test_what_nobody_said_was_pruned_is_missing(unpruned: Path, made: Made) -> None:
    first = _places(unpruned, _gone(made))[0]
    edit(unpruned, f"DELETE FROM entries WHERE {_gone(made)}")
    assert _bad(unpruned) == (7, first, {"entries"})


def test_the_entry_that_says_so_cannot_go(folder: Path, made: Made) -> None:
    """Without it the first gap is where somebody has deleted."""
    first = _places(made.before, _gone(made))[0]
    edit(folder, "DELETE FROM entries WHERE idx >= ?", made.said)
    assert _bad(folder) == (7, first, {"entries"})


@pytest.mark.parametrize(
    ("statement", "axis"),
    [
        ("DELETE FROM entries WHERE idx = 256", "entries"),
        ("DELETE FROM entries WHERE idx >= 256 AND idx < 260", "entries"),
        ("DELETE FROM entries WHERE sid = '{crossing}'", "entries"),
        ("DELETE FROM entries WHERE sid = '{reaching}' AND idx < 256", "chain"),
        ("DELETE FROM entries WHERE sid = '{crossing}' AND idx < 256", "chain"),
        ("DELETE FROM entries WHERE type = 'log.init'", "chain"),
        ("DELETE FROM entries WHERE sid = '{reaching}' AND seq = 1", "chain"),
    ],
    ids=["minimum", "some", "whole", "reaching", "crossing", "init", "one"],
)
def test_what_the_entry_does_not_cover_is_missing(
    folder: Path, made: Made, statement: str, axis: str
) -> None:
    """Named is the missing place over the minimum, else the next entry of the session that was cut."""
    before = set(_places(folder, "true"))
    said = statement.format(crossing=made.sids.crossing, reaching=made.sids.reaching)
    edit(folder, said)
    lost = sorted(before - set(_places(folder, "true")))
    code, bad, axes = _bad(folder)
    assert (code, axes) == (7, {axis})
    assert bad is not None
    assert bad == min(idx for idx in lost if idx >= 256) if axis == "entries" else bad > lost[0]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE sid = '{unended}'",
        "DELETE FROM entries WHERE sid = '{gone}' AND type = 'session.seal'",
    ],
    ids=["a session without a seal", "a seal"],
)
def test_more_is_missing_than_the_seals_account_for(
    folder: Path, made: Made, statement: str
) -> None:
    edit(folder, statement.format(unended=made.sids.unended, gone=made.sids.gone[0]))
    assert _bad(folder) == (7, made.said, {"pruned"})


@pytest.mark.parametrize(
    ("left", "named"),
    [("seq = 0", "seq > 2"), ("seq = 1", "seq = 1"), ("seq < 3", "seq > 2")],
    ids=["first", "second", "some"],
)
def test_half_a_session_is_named_by_the_entry_that_does_not_fit(
    unpruned: Path, made: Made, left: str, named: str
) -> None:
    with open_recorder(unpruned) as recorder:
        recorder.append(Draft(recorder.system(), "log.pruned", ids.entry_id(), made.fields))
    half = f"sid = '{made.sids.gone[0]}'"
    edit(unpruned, f"DELETE FROM entries WHERE {_gone(made)} AND NOT ({half} AND {left})")
    (bad, *_) = _places(unpruned, f"{half} AND {named}")
    assert _bad(unpruned) == (7, bad, {"chain"})


@pytest.mark.parametrize(
    ("name", "value", "axis"),
    [
        ("count", 213, "pruned"),
        ("count", 215, "pruned"),
        ("root", "0" * 64, "sessions"),
        ("new_minimum", 255, "sessions"),
        ("new_minimum", 512, "sessions"),
        ("old_minimum", 256, "sessions"),
        ("old_minimum", 1, "sessions"),
    ],
)
def test_a_signed_lie_about_what_went_does_not_hold(
    unpruned: Path, made: Made, name: str, value: Any, axis: str
) -> None:
    """Whoever holds the recorder can sign one; the log contradicts it."""
    with open_recorder(unpruned) as recorder:
        fields = {**made.fields, name: value}
        draft = Draft(recorder.system(), "log.pruned", ids.entry_id(), fields)
        (said,) = recorder.append(draft)
    edit(unpruned, f"DELETE FROM entries WHERE {_gone(made)}")
    assert _bad(unpruned) == (7, said.idx, {axis})


def test_a_true_entry_before_which_nothing_was_deleted_does_not_hold(
    unpruned: Path, made: Made
) -> None:
    with open_recorder(unpruned) as recorder:
        draft = Draft(recorder.system(), "log.pruned", ids.entry_id(), made.fields)
        (said,) = recorder.append(draft)
    assert _bad(unpruned) == (7, said.idx, {"pruned"})


def test_a_session_of_an_agent_prunes_nothing(unpruned: Path, made: Made) -> None:
    with open_recorder(unpruned) as recorder:
        draft = Draft(spawned(recorder).sid, "log.pruned", ids.entry_id(), made.fields)
        (said,) = recorder.append(draft)
    edit(unpruned, f"DELETE FROM entries WHERE {_gone(made)}")
    assert _bad(unpruned) == (7, said.idx, {"sessions"})


@pytest.mark.parametrize(
    "old_and_new", [('"count":214', '"count":215'), ('"new_minimum":256', '"new_minimum":512')]
)
def test_an_edited_entry_is_not_the_signed_one(
    folder: Path, made: Made, old_and_new: tuple[str, str]
) -> None:
    edit(
        folder,
        "UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), ?, ?) AS BLOB)"
        " WHERE type = 'log.pruned'",
        *old_and_new,
    )
    assert _bad(folder) == (7, made.said, {"entries"})


@pytest.mark.parametrize(
    ("statement", "axis", "named"),
    [
        ("DELETE FROM tiles WHERE level = 0", "tree", True),
        ("UPDATE tiles SET hashes = x'00' WHERE level = 0", "tree", True),
        ("UPDATE tiles SET hashes = zeroblob(8192) WHERE level = 0", "tree", False),
        ("UPDATE entries SET sig = zeroblob(64) WHERE {seal}", "entries", True),
        ("UPDATE entries SET ts = ts + 1 WHERE {seal}", "entries", True),
        ("UPDATE sessions SET vkey = replace(vkey, '+', '+0') WHERE {row}", "chain", True),
        (
            "UPDATE sessions SET vkey = (SELECT vkey FROM sessions WHERE system) WHERE {row}",
            "chain",
            True,
        ),
        ("DELETE FROM sessions WHERE {row}", "chain", True),
        ("UPDATE sessions SET root = 'x' WHERE {row}", "columns", False),
        ("UPDATE sessions SET status = 'live' WHERE {row}", "columns", False),
        ("UPDATE sessions SET intent = 'harmless' WHERE {row}", "columns", False),
        ("DELETE FROM credentials_log WHERE event = 'session.seal' AND {row}", "columns", False),
    ],
)
def test_what_is_left_of_a_session_must_be_right(
    folder: Path, made: Made, statement: str, axis: str, named: bool
) -> None:
    sid = made.sids.gone[0]
    seal = _places(folder, f"sid = '{sid}'")
    first = _places(made.before, _gone(made))[0]
    edit(
        folder,
        statement.format(seal=f"sid = '{sid}'", row=f"session_id = '{sid}'"),
    )
    found = audited(folder)
    assert (found.exit_code, set(wrong(found)) - {"head"}) == (7, {axis})
    expected = first if axis == "tree" else seal[0]
    assert found.first_bad == (expected if named else None)


STATEMENTS = (
    "DELETE FROM entries",
    "DELETE FROM entries WHERE type = 'session.seal'",
    "DELETE FROM entries WHERE type = 'log.pruned'",
    "DELETE FROM entries WHERE type = 'log.init'",
    "DELETE FROM entries WHERE idx < 256",
    "DELETE FROM entries WHERE sid = '{crossing}'",
    "DELETE FROM entries WHERE sid = '{reaching}' AND idx < 256",
    "DELETE FROM entries WHERE sid = '{unended}'",
    "DELETE FROM payloads",
    "UPDATE entries SET ts = ts + 1 WHERE idx < 256",
    "INSERT INTO entries SELECT 2, '{gone}', 0, zeroblob(32), type, id, ts, body, sig, leaf_hash"
    " FROM entries WHERE idx = 300",
    "INSERT OR REPLACE INTO entries SELECT 2, '{gone}', 0, zeroblob(32), type, id, ts, body, sig,"
    " leaf_hash FROM entries WHERE idx = 300",
    "INSERT INTO entries SELECT (SELECT max(idx) + 1 FROM entries), '{gone}', 0, zeroblob(32), type,"
    " id, ts, body, sig, leaf_hash FROM entries WHERE idx = 300",
    "INSERT OR REPLACE INTO entries SELECT idx, '{gone}', seq, prev, type, id, ts, body, sig,"
    " leaf_hash FROM entries WHERE type = 'session.seal' AND idx > 256",
)


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_the_guards_let_nothing_else_go_and_nothing_come_again(
    folder: Path, made: Made, statement: str, recursive: str
) -> None:
    names = {name: getattr(made.sids, name) for name in ("crossing", "reaching", "unended")}
    said = statement.format(gone=made.sids.gone[0], **names)
    before = rows(folder, "SELECT * FROM entries ORDER BY idx")
    with raw(folder) as connection, pytest.raises(sqlite3.IntegrityError, match="ledger: "):
        connection.execute(f"PRAGMA recursive_triggers={recursive}")
        connection.execute(said)
    assert rows(folder, "SELECT * FROM entries ORDER BY idx") == before


def test_nothing_goes_before_an_entry_says_so(unpruned: Path, made: Made) -> None:
    for table in ("entries", "payloads"):
        with pytest.raises(sqlite3.IntegrityError, match="ledger: "):
            script(
                unpruned, f"DELETE FROM {table} WHERE {'sid' if table == 'entries' else 1} <> ''"
            )
    assert _places(unpruned, _gone(made)) == _places(made.before, _gone(made))


def test_without_its_tile_an_entry_stays(unpruned: Path, made: Made) -> None:
    with open_recorder(unpruned) as recorder:
        recorder.append(Draft(recorder.system(), "log.pruned", ids.entry_id(), made.fields))
        script(unpruned, "DELETE FROM tiles")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            script(unpruned, f"DELETE FROM entries WHERE {_gone(made)}")


@pytest.mark.parametrize("name", SQLITE_PRUNE_GUARDS)
def test_the_guard_from_before_is_not_the_one_that_is_demanded(folder: Path, name: str) -> None:
    script(folder, f"DROP TRIGGER {name}")
    with pytest.raises(IntegrityError, match=name) as caught:
        open_recorder(folder)
    assert caught.value.code == "ledger.triggers"
