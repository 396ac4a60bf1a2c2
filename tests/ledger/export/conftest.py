"""A ledger of this test: what writes it, and what reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from support.ledger import open_recorder, url_of


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    """Return a recorder in a folder of this test."""
    with open_recorder(tmp_path) as opened:
        yield opened


@pytest.fixture
def ledger(tmp_path: Path, recorder: Recorder) -> Iterator[Ledger]:
    """Return what that recorder wrote."""
    del recorder  # it made the database
    engine = db.engine(url_of(tmp_path))
    yield Ledger(engine, Home(tmp_path))
    engine.dispose()
