"""What turns texts into vectors, and the space that its vectors live in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

type Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Space:
    """Where vectors can be compared: one model in one revision, with so many dimensions."""

    model: str
    revision: str
    dimensions: int

    @property
    def id(self) -> str:
        """The name that is kept with every vector."""
        return f"{self.model}@{self.revision}/{self.dimensions}"


class Embedder(Protocol):
    """Turns texts into vectors; may be shared between threads."""

    weight: float
    """The share of its vectors in a convex mix with words, as it was measured: 0 to 1."""

    def space(self) -> Space:
        """Return the space of its vectors; raises UnavailableError where only the model can tell."""
        ...

    def known(self) -> Space | None:
        """Return the space as far as it is known; asks nobody."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Rows:
        """Return a row for each text, of length one, or zero for a text that says nothing to the model.

        `query` marks what is searched for, which waits for less. Raises UnavailableError.
        """
        ...

    def close(self) -> None:
        """End what is under way in other threads; nothing is embedded any more."""
        ...


def unit(rows: Rows) -> Rows:
    """Return the rows with length one; a row of zeros stays."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    return scaled
