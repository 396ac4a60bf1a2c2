"""`ghost bench`: how well memories are found, on data that is shipped or that the user has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from ghost_cli import output
from ghost_memory.asking import Vectors
from ghost_memory.bench import conversations, embedded, fixtures, report, suites
from ghost_memory.bench.embedded import Embeds
from ghost_memory.bench.fixtures import Dataset
from ghost_memory.bench.suites import Suite
from ghost_memory.embedding import onnx
from ghost_memory.embedding.onnx import OnnxEmbedder
from ghost_memory.embedding.static import StaticEmbedder

type Made = Callable[[Dataset], Vectors]


def bench(
    *,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Try weights of the vector leg instead.")
    ] = False,
    dataset: Annotated[
        Path | None, typer.Option(help="Folder with memories.jsonl and queries.jsonl.")
    ] = None,
    locomo: Annotated[Path | None, typer.Option(help="A locomo10.json of yours.")] = None,
    longmemeval: Annotated[Path | None, typer.Option(help="A LongMemEval file of yours.")] = None,
    floor: Annotated[
        list[str] | None, typer.Option(help="SUITE/CONDITION/FIGURE=NUMBER; exit 1 below it.")
    ] = None,
    backend: Annotated[
        Literal["static", "onnx"], typer.Option(help="The embedder, as memory.embedding.backend.")
    ] = "static",
) -> int:
    """Measure retrieval: no model is asked, nothing leaves this machine, your memories are not read.

    Vectors are those of an embedder of this machine, or lie beside a set as embeddings.json.

    Example: ghost bench --floor parity/default/ndcg_at_10=0.99
    """
    floors = [report.floor(each) for each in floor or ()]
    vectors = embedded.by(_embedder(backend))
    found = _asked(vectors, dataset, locomo, longmemeval)
    if sweep:
        found = [suites.sweep(), *found]
    if not found:
        found = _shipped(vectors)
    output.result(report.document(found), report.text(found))
    missed = report.below(found, floors)
    for each in missed:
        output.warn(each)
    return 1 if missed else 0


def _embedder(backend: Literal["static", "onnx"]) -> Embeds:
    return StaticEmbedder() if backend == "static" else OnnxEmbedder(onnx.folder())


def _asked(
    vectors: Made, dataset: Path | None, locomo: Path | None, longmemeval: Path | None
) -> list[Suite]:
    found: list[Suite] = []
    if dataset is not None:
        beside = suites.beside(dataset) or vectors
        found.append(suites.graded(fixtures.dataset(dataset, dataset.name), beside))
    if locomo is not None:
        found.append(conversations.locomo(locomo, vectors))
    if longmemeval is not None:
        found.append(conversations.longmemeval(longmemeval, vectors))
    return found


def _shipped(vectors: Made) -> list[Suite]:
    own = suites.own(vectors)
    return [suites.parity(), suites.staleness(), *suites.lookalikes(), own]
