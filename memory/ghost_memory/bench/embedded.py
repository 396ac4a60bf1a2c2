"""The vector leg of a graded set, made by an embedder as the set is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ghost_memory.bench.fixed import FixedVectors
from ghost_memory.bench.fixtures import Dataset

__all__ = ["Embeds", "by"]


class Embeds(Protocol):
    """What the bench asks of an embedder."""

    @property
    def weight(self) -> float:
        """Its share in a convex mix, as it was measured."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> npt.NDArray[np.float32]:
        """Return a row for each text."""
        ...


def by(embedder: Embeds) -> Callable[[Dataset], FixedVectors]:
    """Return what makes the vectors of a set."""

    def made(data: Dataset) -> FixedVectors:
        rows = embedder.embed([each.content for each in data.records])
        asked = list(dict.fromkeys(each.text for each in data.queries))
        vectors = embedder.embed(asked, query=True)
        return FixedVectors.of(
            embedder.weight,
            {each.key: row for each, row in zip(data.records, rows.tolist(), strict=True)},
            dict(zip(asked, vectors.tolist(), strict=True)),
            projects={each.key: each.project for each in data.records},
        )

    return made
