"""Vectors that were made before: the vector leg of the bench, without a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["FixedVectors"]


@dataclass(frozen=True, slots=True)
class FixedVectors:
    """Answers for the texts whose vectors it holds; a text without one is near to nothing."""

    weight: float
    keys: tuple[str, ...]
    projects: tuple[str, ...]
    matrix: npt.NDArray[np.float64]
    asked: Mapping[str, npt.NDArray[np.float64]]

    @classmethod
    def of(
        cls,
        weight: float,
        memories: Mapping[str, Sequence[float]],
        asked: Mapping[str, Sequence[float]],
        *,
        projects: Mapping[str, str],
    ) -> FixedVectors:
        """Take vectors by memory key and by text; all are brought to unit length."""
        matrix = np.asarray([_unit(each) for each in memories.values()], dtype=np.float64)
        texts = {text: _unit(each) for text, each in asked.items()}
        return cls(weight, tuple(memories), tuple(projects[key] for key in memories), matrix, texts)

    def near(self, text: str, *, projects: Collection[str] | None, limit: int) -> dict[str, float]:
        """Return cosines by memory key, the nearest first."""
        if text not in self.asked:
            return {}
        cosines = self.matrix @ self.asked[text]
        order = np.argsort(-cosines, kind="stable")
        within = (i for i in order if projects is None or self.projects[i] in projects)
        return {self.keys[i]: float(cosines[i]) for i, _ in zip(within, range(limit), strict=False)}


def _unit(vector: Sequence[float]) -> npt.NDArray[np.float64]:
    found = np.asarray(vector, dtype=np.float64)
    return found / (float(np.linalg.norm(found)) or 1.0)
