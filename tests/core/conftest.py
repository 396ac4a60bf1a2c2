"""What several tests of the database ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from ghost_core import db
from support.database import engine_at


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Return a database of this test with our tables."""
    built = engine_at(tmp_path)
    db.migrate(built)
    return built
