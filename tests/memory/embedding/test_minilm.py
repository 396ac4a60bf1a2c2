"""The model that is made of weights does what the weights say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from ghost_memory.embedding import minilm as made
from ghost_memory.embedding.onnx import OnnxEmbedder
from support import minilm


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("word3", [2, 7, 3]),
        ("word5 word7 a word59 b", [2, 9, 11, 64, 63, 65, 3]),
        (" ".join(f"word{each}" for each in range(14)), [2, *range(4, 18), 3]),
    ],
)
def test_the_vector_is_that_of_the_papers_but_for_rounding(
    folder: Path, text: str, pieces: list[int]
) -> None:
    exact = minilm.plainly(pieces)
    found = OnnxEmbedder(folder).embed([text])[0]
    assert found @ exact / np.linalg.norm(exact) > 0.99


def test_what_was_made_says_what_it_is(folder: Path) -> None:
    about = json.loads((folder / "model.json").read_text("utf-8"))
    assert (about["dimensions"], about["pieces"]) == (24, 16)
    assert about["made_from"]["weights_sha256"] == minilm.digest()
    for name, digest in about["sha256"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert "Apache License" in (folder / "NOTICE").read_text("utf-8")


def test_it_is_made_the_same_again(folder: Path, tmp_path: Path) -> None:
    again = minilm.made(tmp_path)
    for each in folder.iterdir():
        assert (again / each.name).read_bytes() == each.read_bytes()


def test_weights_are_rounded_to_seven_bits() -> None:
    rows = np.random.default_rng(3).normal(0, 1, (20, 5)).astype(np.float32)
    whole, scale = made._rounded(rows, axis=0, steps=64)
    assert np.abs(whole).max() == 64
    assert np.abs(whole * scale - rows).max() <= scale.max() * 0.51
