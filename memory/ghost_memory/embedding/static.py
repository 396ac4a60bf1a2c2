"""The embedder that is always there: a text is the mean of its pieces in a table that is shipped.

The table is made from all-MiniLM-L6-v2 (`scripts/build_static.py`). It is mapped, not read, so processes
share it and only the rows of words that occur are loaded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ghost_memory.embedding.embedder import Rows, Space, unit
from ghost_memory.embedding.pieces import Splitter

FOLDER: Final = Path(__file__).parent / "data"
MAX_PIECES: Final = 4096


@dataclass(frozen=True, slots=True)
class _Table:
    splitter: Splitter
    rows: npt.NDArray[np.int8]
    scale: Rows


class StaticEmbedder:
    """Embeds without a model, a network or a key; loads at the first text."""

    weight = 0.3

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._table: _Table | None = None
        self._lock = threading.Lock()
        about = json.loads((folder / "model.json").read_text("utf-8"))
        self._space = Space(about["model"], about["revision"], about["dimensions"])

    def space(self) -> Space:
        """Return the space of the table that is shipped."""
        return self._space

    def known(self) -> Space:
        """Return the same."""
        return self._space

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Rows:  # noqa: ARG002  # both are alike here
        """Return a row for each text; see the protocol."""
        table = self._loaded()
        found = np.zeros((len(texts), self._space.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            pieces = table.splitter.split(text)[:MAX_PIECES]
            if pieces:
                found[number] = table.scale[pieces] @ table.rows[pieces].astype(np.float32)
        return unit(found)

    def close(self) -> None:
        """Do nothing: no text takes long."""

    def _loaded(self) -> _Table:
        with self._lock:
            if self._table is None:
                self._table = _read(self._folder)
            return self._table


def _read(folder: Path) -> _Table:
    names = (folder / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    splitter = Splitter({piece: number for number, piece in enumerate(names)})
    rows = np.load(folder / "table.npy", mmap_mode="r", allow_pickle=False)
    return _Table(splitter, rows, np.load(folder / "scale.npy", allow_pickle=False))
