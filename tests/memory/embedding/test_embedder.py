"""Spaces and unit rows."""

from __future__ import annotations

import numpy as np

from ghost_memory.embedding.embedder import Space, unit


def test_a_space_is_named_by_all_that_makes_vectors_comparable() -> None:
    one = Space("m", "1", 8)
    others = (Space("n", "1", 8), Space("m", "2", 8), Space("m", "1", 9))
    assert one.id == "m@1/8"
    assert one.id not in {each.id for each in others}


def test_rows_get_length_one_and_zero_stays_zero() -> None:
    rows = unit(np.array([[3.0, 4.0], [0.0, 0.0], [1e-20, 0.0]], np.float32))
    assert rows.dtype == np.float32
    assert rows[0].tolist() == [np.float32(0.6), np.float32(0.8)]
    assert rows[1].tolist() == [0.0, 0.0]
    assert np.isfinite(rows).all()
