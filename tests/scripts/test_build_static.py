"""The builder of the static table, on a model of a few numbers; and that a wheel holds what it built."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ghost_memory.embedding import weights
from ghost_memory.embedding.static import StaticEmbedder
from support import minilm

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "SHA256", minilm.digest())


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    path = ROOT / "scripts" / "build_static.py"
    spec = importlib.util.spec_from_file_location("build_static", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_model_runs_as_the_papers_write_it(builder: ModuleType, tmp_path: Path) -> None:
    source = builder.read(minilm.wheel(tmp_path))
    assert source.vocabulary == minilm.WORDS
    ids = [[2, 7, 3], [2, 40, 3]]
    found = builder.encode(source.named, np.array(ids))
    for row, each in zip(found, ids, strict=True):
        assert np.allclose(row, minilm.plainly(each), atol=2e-4)


def test_what_is_built_is_whole_and_the_same_again(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = minilm.wheel(tmp_path)
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
    source = builder.read(minilm.wheel(tmp_path))
    monkeypatch.setattr(builder, "TARGET", tmp_path / "out")
    monkeypatch.setattr(builder, "DIMENSIONS", minilm.WIDTH)
    monkeypatch.setattr(builder, "SHARED", 0)
    full = builder.vectors(source)
    rows = builder.reduced(full)
    centred = full - full.mean(axis=0)
    assert np.allclose(rows @ rows.T, centred @ centred.T, atol=1e-2)
    assert (np.diff(rows.var(axis=0)) < 1e-6).all()
    builder.write(rows, source)
    table = np.load(tmp_path / "out" / "table.npy").astype(float)
    scale = np.load(tmp_path / "out" / "scale.npy")
    weighed = rows * builder.weights(minilm.WORDS)[:, None]
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
    said = builder.weights(minilm.WORDS)
    assert (np.diff(said[4:]) > 0).all()
    assert not said[:4].any()


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
