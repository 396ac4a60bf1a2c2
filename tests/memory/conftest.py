"""What every test of memory may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_memory.matrix import Matrix
from support.embedding import WordsEmbedder
from support.memory import Store, memory_at


@pytest.fixture
def memory(home: Path) -> Iterator[Store]:
    """Return the memory of this test's home."""
    with memory_at(home) as opened:
        yield opened


@pytest.fixture
def embedder() -> WordsEmbedder:
    """Return an embedder that knows a few words."""
    return WordsEmbedder()


@pytest.fixture
def matrix(memory: Store, embedder: WordsEmbedder) -> Iterator[Matrix]:
    """Return the vectors of that memory."""
    made = Matrix(memory.recorder.engine, embedder)
    yield made
    made.close()
