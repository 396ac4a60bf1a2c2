"""What every test of memory may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.memory import Store, memory_at


@pytest.fixture
def memory(home: Path) -> Iterator[Store]:
    """Return the memory of this test's home."""
    with memory_at(home) as opened:
        yield opened
