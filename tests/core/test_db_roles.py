"""Names of roles; what is given to them is tried on a server, in tests/postgres."""

from __future__ import annotations

from typing import Any

import pytest

from ghost_core.db_roles import give
from ghost_core.errors import UsageError

NOBODY: Any = None  # a connection that is never asked


@pytest.mark.parametrize(
    "name", ["", "a b", "A", 'a"; DROP TABLE entries; --', "ä", "a" * 64, "1a", "a\n"]
)
def test_what_is_no_name_reaches_no_server(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        give(NOBODY, name, {})
    assert caught.value.code == "database.role"
