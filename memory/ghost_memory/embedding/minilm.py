"""Makes all-MiniLM-L6-v2 in whole numbers for ONNX from its weights, in a fourth of their size.

Weights are rounded per column, and to seven bits: with eight, processors without instructions for this add up
beyond 16 bits and clip, so that the same text would have another vector there. What flows through the model
is rounded as it comes. One text goes in at a time, without padding, so its vector depends on nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ghost_memory.embedding.embedder import Rows
from ghost_memory.embedding.graph import Graph
from ghost_memory.embedding.onnx import FILE, MODEL, TAKES
from ghost_memory.embedding.weights import PACKAGE, VERSION, Weights

__all__ = ["build"]

HEADS: Final = 12
PIECES: Final = 256  # what the model was published for; what is beyond is not read
_STEPS: Final = 64
_NOTICE: Final = """\
model.onnx and vocabulary.txt are made from the model sentence-transformers/all-MiniLM-L6-v2: its weights were
rounded to whole numbers, its vocabulary is unchanged. The model is licensed under the Apache License, Version
2.0, and so are these files. Copyright of the model: its authors, UKPLab and Nils Reimers.
"""


def build(weights: Weights, folder: Path) -> Mapping[str, object]:
    """Write model and vocabulary into a folder; returns what `model.json` says, which comes last."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = {
        FILE: _model(weights.named),
        "vocabulary.txt": ("\n".join(weights.vocabulary) + "\n").encode(),
        "NOTICE": _NOTICE.encode(),
    }
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    about = {
        "model": MODEL,
        "revision": hashlib.sha256("".join(digests.values()).encode()).hexdigest()[:12],
        "dimensions": weights.named["embeddings.LayerNorm.bias"].shape[0],
        "pieces": min(PIECES, len(weights.named["embeddings.position_embeddings.weight"])),
        "sha256": digests,
        "made_from": {"package": f"{PACKAGE} {VERSION}", "weights_sha256": weights.digest},
    }
    files["model.json"] = (json.dumps(about, indent=2) + "\n").encode()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return about


class _Model:
    """The graph of BERT over named weights."""

    def __init__(self, named: Mapping[str, Rows]) -> None:
        self.graph = Graph()
        self._named = named

    def kept(self, name: str) -> str:
        return self.graph.constant(name, self._named[name])

    def words(self, pieces: str) -> str:
        """Return the vectors of the pieces, each with its place added; all texts are of the first kind."""
        rows = self._named["embeddings.word_embeddings.weight"]
        whole, scale = _rounded(rows, axis=1, steps=127)
        table = self.graph.add("Gather", self.graph.constant("words", whole), pieces)
        scales = self.graph.add("Gather", self.graph.constant("words.scale", scale), pieces)
        found = self.graph.add("Mul", self.graph.add("Cast", table, to=1), scales)
        return self.graph.add("Add", found, self._places(pieces))

    def _places(self, pieces: str) -> str:
        rows = self._named["embeddings.position_embeddings.weight"][:PIECES]
        kind = self._named["embeddings.token_type_embeddings.weight"][0]
        places = self.graph.constant("places", rows + kind)
        start = self.graph.constant("start", np.zeros(1, np.int64))
        return self.graph.add("Slice", places, start, self.graph.add("Shape", pieces))

    def linear(self, name: str, states: str) -> str:
        whole, scale = _rounded(self._named[f"{name}.weight"].T, axis=0, steps=_STEPS)
        graph = self.graph
        quick, unit, zero = graph.add_many("DynamicQuantizeLinear", 3, states)
        table = graph.constant(f"{name}.weight", whole)
        product = graph.add("Cast", graph.add("MatMulInteger", quick, table, zero), to=1)
        factor = graph.add("Mul", unit, graph.constant(f"{name}.scale", scale[0]))
        return graph.add("Add", graph.add("Mul", product, factor), self.kept(f"{name}.bias"))

    def normed(self, name: str, states: str) -> str:
        weight, bias = self.kept(f"{name}.weight"), self.kept(f"{name}.bias")
        return self.graph.add("LayerNormalization", states, weight, bias, epsilon=1e-12)

    def attended(self, at: str, states: str) -> str:
        width = self._named["embeddings.LayerNorm.bias"].shape[0]
        split = self.graph.constant("split", np.array([-1, HEADS, width // HEADS]))
        joined = self.graph.constant("joined", np.array([-1, width]))
        root = self.graph.constant("root", _single((width // HEADS) ** -0.5))

        def heads(name: str, order: list[int]) -> str:
            whole = self.linear(f"{at}.attention.self.{name}", states)
            return self.graph.add("Transpose", self.graph.add("Reshape", whole, split), perm=order)

        scores = self.graph.add("MatMul", heads("query", [1, 0, 2]), heads("key", [1, 2, 0]))
        shares = self.graph.add("Softmax", self.graph.add("Mul", scores, root), axis=-1)
        seen = self.graph.add("MatMul", shares, heads("value", [1, 0, 2]))
        back = self.graph.add("Transpose", seen, perm=[1, 0, 2])
        return self.graph.add("Reshape", back, joined)

    def gelu(self, states: str) -> str:
        half = self.graph.constant("half", _single(0.5))
        one = self.graph.constant("one", _single(1))
        root = self.graph.constant("root of two", _single(2**0.5))
        share = self.graph.add("Erf", self.graph.add("Div", states, root))
        return self.graph.add(
            "Mul", self.graph.add("Mul", states, self.graph.add("Add", share, one)), half
        )

    def layer(self, at: str, states: str) -> str:
        seen = self.linear(f"{at}.attention.output.dense", self.attended(at, states))
        middle = self.normed(
            f"{at}.attention.output.LayerNorm", self.graph.add("Add", states, seen)
        )
        inner = self.gelu(self.linear(f"{at}.intermediate.dense", middle))
        outer = self.linear(f"{at}.output.dense", inner)
        return self.normed(f"{at}.output.LayerNorm", self.graph.add("Add", middle, outer))


def _model(named: Mapping[str, Rows]) -> bytes:
    model = _Model(named)
    states = model.normed("embeddings.LayerNorm", model.words(TAKES))
    layers = sum(name.endswith(".intermediate.dense.bias") for name in named)
    for number in range(layers):
        states = model.layer(f"encoder.layer.{number}", states)
    mean = model.graph.add("ReduceMean", states, axes=[0], keepdims=0)
    return model.graph.model(
        takes=TAKES, gives=mean, size=named["embeddings.LayerNorm.bias"].shape[0]
    )


def _single(value: float) -> Rows:
    return np.array([value], np.float32)


def _rounded(rows: Rows, *, axis: int, steps: int) -> tuple[npt.NDArray[np.int8], Rows]:
    """Return the rows in whole numbers up to `steps`, and what each is worth."""
    scale = np.maximum(np.abs(rows).max(axis=axis, keepdims=True), 1e-12) / np.float32(steps)
    return np.rint(rows / scale).astype(np.int8), scale.astype(np.float32)
