"""What entries say was pruned."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import NotFoundError
from ghost_ledger import pruned
from support.ledger import edit, open_recorder, rows, sealed
from support.pruning import EVER, grown


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pruned")
    with open_recorder(folder) as recorder:
        grown(recorder)
        recorder.prune(EVER)
    return folder


def test_an_entry_says_up_to_where_and_how_many(folder: Path) -> None:
    with open_recorder(folder) as recorder, db.read(recorder.engine) as connection:
        (said,) = pruned.statements(connection)
        gone = pruned.only_seals(connection, said.new_minimum)
    assert (said.old_minimum, said.new_minimum, said.count) == (0, 256, 214)
    assert rows(folder, "SELECT idx, ts FROM entries WHERE type = 'log.pruned'") == [
        (said.idx, said.ts)
    ]
    assert len(gone) == 4


def test_a_session_under_a_minimum_is_refused_by_name(folder: Path) -> None:
    with open_recorder(folder) as recorder, db.read(recorder.engine) as connection:
        (said,) = pruned.statements(connection)
        with pytest.raises(
            NotFoundError, match=f"idx {said.idx}, sha256_{said.leaf_hash}"
        ) as found:
            pruned.refuse(connection, "gh_x", 255)
        assert (found.value.code, found.value.exit_code) == ("ledger.pruned", 4)
        pruned.refuse(connection, "gh_x", 256)


def test_without_such_an_entry_nothing_was_pruned(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sealed(recorder)
        with db.read(recorder.engine) as connection:
            assert pruned.statements(connection) == []
            assert pruned.only_seals(connection, EVER) == []
            pruned.refuse(connection, "gh_x", 0)


def test_an_entry_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        sealed(recorder)
    edit(tmp_path, "UPDATE entries SET type = 'log.pruned', body = x'7b7d' WHERE idx = 3")
    engine = db.engine(f"sqlite:///{tmp_path / 'ghost.db'}")
    with db.read(engine) as connection:
        assert pruned.statements(connection) == []
    engine.dispose()
