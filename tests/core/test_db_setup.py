from __future__ import annotations

from pathlib import Path

from ghost_core.db_setup import opened
from ghost_core.migrations import HEAD
from ghost_core.paths import Home


def test_a_database_is_looked_at_without_being_made(tmp_path: Path) -> None:
    file = tmp_path / "ghost.db"
    with opened(f"sqlite:///{file}", Home(tmp_path)) as setup:
        assert (setup.name, setup.has_roles, setup.exists) == (str(file), False, False)
        assert setup.holders("entries") == {}
        assert not file.exists()
        assert setup.bring_up({}) == (None, HEAD, {})
        assert setup.bring_up({}) == (HEAD, HEAD, {})
        assert setup.exists
