"""The embedder that runs a real model here: all-MiniLM-L6-v2 in whole numbers, by onnxruntime.

Neither comes with ghost: the runtime is the extra `onnx`, the model is made once by `ghost memory model`
from a package that the user has fetched. What is missing or was changed is said before a text is asked for.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ghost_core.errors import ConfigError, UnavailableError
from ghost_core.paths import home
from ghost_memory.embedding.embedder import Rows, Space, unit
from ghost_memory.embedding.pieces import Splitter

__all__ = ["FILE", "MODEL", "TAKES", "OnnxEmbedder", "folder"]

MODEL: Final = "all-minilm-l6-v2-int8"
FILE: Final = "model.onnx"
TAKES: Final = "pieces"
RUNTIME: Final = "onnxruntime"
_MAKE: Final = "make it with: ghost memory model WHEEL (ghost memory model --help tells where from)"
_INSTALL: Final = "pip install 'ghost-ledger[onnx]'"


def folder() -> Path:
    """Return where the model of this home is, or would be."""
    return home().models / "all-minilm-l6-v2"


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Any  # of a library without types
    splitter: Splitter
    first: int
    last: int


class OnnxEmbedder:
    """Embeds one text after the other, on one processor; loads at the first text.

    Raises ConfigError `memory.embedding` where the runtime or the model is missing, or the model was changed.
    """

    weight = 0.5

    def __init__(self, place: Path) -> None:
        if importlib.util.find_spec(RUNTIME) is None:
            raise _wrong(f"{RUNTIME} is not installed", _INSTALL)
        self._place = place
        self._space, self._pieces = _about(place)
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def space(self) -> Space:
        """Return the space of the model in the folder."""
        return self._space

    def known(self) -> Space:
        """Return the same."""
        return self._space

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Rows:  # noqa: ARG002  # both are alike here
        """Return a row for each text; see the protocol. Of a long text the first 254 pieces are read."""
        loaded = self._ready()
        found = np.zeros((len(texts), self._space.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            if self._ended.is_set():
                raise _unavailable("is not asked any more")
            pieces = loaded.splitter.split(text)[: self._pieces - 2]
            if pieces:
                asked = np.array([loaded.first, *pieces, loaded.last], np.int64)
                found[number] = loaded.session.run(None, {TAKES: asked})[0]
        return unit(found)

    def close(self) -> None:
        """Embed nothing any more; what another thread embeds ends after its text."""
        self._ended.set()

    def _ready(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._place)
            return self._loaded


def _load(place: Path) -> _Loaded:
    runtime = importlib.import_module(RUNTIME)
    chosen = runtime.SessionOptions()
    chosen.intra_op_num_threads = chosen.inter_op_num_threads = 1
    chosen.log_severity_level = 3  # errors: it warns of machines, on a stderr that may be a host's
    try:
        session = runtime.InferenceSession(
            str(place / FILE), chosen, providers=["CPUExecutionProvider"]
        )
        names = (place / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    except Exception as error:  # its errors have no common kind
        raise _unavailable(f"cannot be loaded, {type(error).__name__}") from error
    return _Loaded(
        session,
        Splitter({piece: number for number, piece in enumerate(names)}),
        names.index("[CLS]"),
        names.index("[SEP]"),
    )


def _about(place: Path) -> tuple[Space, int]:
    """Read what the folder says it holds, and see that it does; returns how many pieces go in too."""
    try:
        about = json.loads((place / "model.json").read_text("utf-8"))
        if about["model"] != MODEL or not {FILE, "vocabulary.txt"} <= about["sha256"].keys():
            raise _wrong(f"{str(place)!r} holds another model", _MAKE)
        for name, digest in about["sha256"].items():
            if hashlib.sha256((place / name).read_bytes()).hexdigest() != digest:
                raise _wrong(f"{name} in {str(place)!r} is not what was made", _MAKE)
        return Space(MODEL, str(about["revision"]), int(about["dimensions"])), int(about["pieces"])
    except FileNotFoundError as error:
        raise _wrong(f"no model lies in {str(place)!r}", _MAKE) from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise _wrong(f"the model in {str(place)!r} cannot be read", _MAKE) from error


def _wrong(what: str, hint: str) -> ConfigError:
    return ConfigError(
        f'memory.embedding.backend: "onnx" cannot be used, {what}',
        code="memory.embedding",
        hint=hint,
    )


def _unavailable(what: str) -> UnavailableError:
    return UnavailableError(
        f"embedder onnx {MODEL!r}: {what}",
        code="memory.embedder",
        hint='search goes on with words; backend = "static" needs no model',
    )
