"""A real model in this process: what it makes of texts, and what is said where it cannot be used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import ConfigError, UnavailableError
from ghost_memory.embedding import onnx
from ghost_memory.embedding.onnx import OnnxEmbedder


@pytest.fixture(scope="module")
def embedder(folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(folder)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_the_space_names_model_revision_and_dimensions(
    folder: Path, embedder: OnnxEmbedder
) -> None:
    about = json.loads((folder / "model.json").read_text("utf-8"))
    assert embedder.space().id == f"all-minilm-l6-v2-int8@{about['revision']}/24"
    assert embedder.known() == embedder.space()


@given(texts=st.lists(st.text(st.sampled_from("ab word1\n[CLS]\0é")), max_size=4))
def test_any_text_has_a_row_of_length_one_or_zero(embedder: OnnxEmbedder, texts: list[str]) -> None:
    rows = embedder.embed(texts)
    assert rows.shape == (len(texts), 24)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert (np.isclose(lengths, 1.0, atol=1e-5) | (lengths == 0)).all()


def test_a_text_is_the_same_alone_and_in_company(embedder: OnnxEmbedder) -> None:
    alone = embedder.embed(["word1 word2"], query=True)[0]
    rows = embedder.embed(["word3 " * 9, "WORD1 word2", "", "nothing known"])
    assert np.array_equal(rows[1], alone)
    assert not rows[2:].any()


def test_the_order_of_words_counts(embedder: OnnxEmbedder) -> None:
    one, two = embedder.embed(["word1 word2 word3", "word3 word2 word1"])
    assert not np.allclose(one, two, atol=1e-3)


def test_of_a_long_text_the_beginning_is_read(embedder: OnnxEmbedder) -> None:
    whole = " ".join(f"word{each}" for each in range(60))
    beginning = " ".join(f"word{each}" for each in range(14))
    long, short = embedder.embed([whole, beginning])
    assert np.array_equal(long, short)


def test_threads_that_come_first_together_get_the_same(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(embedder.embed(["word1"]).tolist()))
        for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(5)
    assert len(found) == 4
    assert all(each == found[0] for each in found)


def test_after_the_end_nothing_is_embedded(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    embedder.close()
    with pytest.raises(UnavailableError):
        embedder.embed(["word1"])


def test_the_runtime_is_loaded_with_the_first_text(folder: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from ghost_memory.embedding.onnx import OnnxEmbedder;"
        " made = OnnxEmbedder(Path(sys.argv[1])); print('onnxruntime' in sys.modules);"
        " made.embed(['word1']); print('onnxruntime' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("False\nTrue\n", "")


def no_model(place: Path) -> None:
    shutil.rmtree(place)


def no_weights(place: Path) -> None:
    (place / "model.onnx").unlink()


def changed(place: Path) -> None:
    data = bytearray((place / "model.onnx").read_bytes())
    data[-1] ^= 1
    (place / "model.onnx").write_bytes(data)


def another(place: Path) -> None:
    about = json.loads((place / "model.json").read_text("utf-8"))
    (place / "model.json").write_text(json.dumps({**about, "model": "other"}))


def nothing_said(place: Path) -> None:
    (place / "model.json").write_text('{"model": "all-minilm-l6-v2-int8", "sha256": {}}')


def not_json(place: Path) -> None:
    (place / "model.json").write_text("[[")


def a_list(place: Path) -> None:
    (place / "model.json").write_text("[]")


@pytest.mark.parametrize(
    "spoil", [no_model, no_weights, changed, another, nothing_said, not_json, a_list]
)
def test_a_model_that_is_missing_or_wrong_is_a_wrong_setting(
    copy: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(copy)
    with pytest.raises(ConfigError) as caught:
        OnnxEmbedder(copy)
    assert (caught.value.exit_code, caught.value.code) == (3, "memory.embedding")
    assert "ghost memory model WHEEL" in str(caught.value.hint)


def test_a_runtime_that_is_missing_is_a_wrong_setting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx, "RUNTIME", "no_such_runtime")
    with pytest.raises(ConfigError) as caught:
        OnnxEmbedder(folder)
    assert caught.value.hint == "pip install 'ghost-ledger[onnx]'"


def test_a_file_that_the_runtime_does_not_take_leaves_search_to_words(copy: Path) -> None:
    embedder = OnnxEmbedder(copy)
    (copy / "model.onnx").write_bytes(b"changed since")
    with pytest.raises(UnavailableError) as caught:
        embedder.embed(["word1"])
    assert "cannot be loaded" in caught.value.message
