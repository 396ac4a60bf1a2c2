"""What several tests of embedders ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import minilm


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model that was made of weights; nobody changes it."""
    return minilm.made(tmp_path_factory.mktemp("model"))
