"""Graphs are written so that the runtime takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ghost_memory.embedding import graph as written
from ghost_memory.embedding.graph import Graph


def answer(data: bytes, pieces: list[int]) -> Any:
    import onnxruntime

    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    assert [each.name for each in session.get_inputs()] == ["pieces"]
    return session.run(None, {"pieces": np.array(pieces, np.int64)})[0]


def test_nodes_constants_and_attributes_are_read() -> None:
    graph = Graph()
    rows = graph.add("Gather", graph.constant("rows", np.eye(4, dtype=np.float32)), "pieces")
    total = graph.add("ReduceMean", rows, axes=[0], keepdims=0)
    slow = graph.add("Elu", graph.add("Neg", total), alpha=0.5)
    found = answer(graph.model(takes="pieces", gives=slow, size=4), [1, 1, 2, 2])
    assert np.allclose(found, [0, *[0.5 * (np.exp(-0.5) - 1)] * 2, 0])


def test_whole_numbers_and_several_outputs_are_read() -> None:
    graph = Graph()
    table = graph.constant("table", np.array([[-3, 7], [100, -128]], np.int8))
    row = graph.add("Cast", graph.add("Gather", table, "pieces"), to=1)
    first, second = graph.add_many("Split", 2, row, axis=1)
    joined = graph.add("Concat", second, first, axis=-1)
    flat = graph.add("Reshape", joined, graph.constant("flat", np.array([-1], np.int64)))
    found = answer(graph.model(takes="pieces", gives=flat, size=2), [1])
    assert found.tolist() == [-128, 100]


@pytest.mark.parametrize(
    ("number", "data"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (-1, "ff" * 9 + "01")],
)
def test_numbers_are_written_as_protocol_buffers_have_them(number: int, data: str) -> None:
    assert written._number(1, number).hex() == "08" + data
