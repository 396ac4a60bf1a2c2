"""`ghost bench`: how well memories are found, on data that is shipped or that the user has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output
from ghost_memory.bench import conversations, embedded, fixtures, report, suites
from ghost_memory.bench.suites import Suite
from ghost_memory.embedding.static import StaticEmbedder


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
) -> int:
    """Measure retrieval: no model is asked, nothing leaves this machine, your memories are not read.

    Vectors are those of the embedder that is shipped, or lie beside a set as embeddings.json.

    Example: ghost bench --floor parity/default/ndcg_at_10=0.99
    """
    floors = [report.floor(each) for each in floor or ()]
    found = _asked(dataset, locomo, longmemeval)
    if sweep:
        found = [suites.sweep(), *found]
    if not found:
        found = _shipped()
    output.result(report.document(found), report.text(found))
    missed = report.below(found, floors)
    for each in missed:
        output.warn(each)
    return 1 if missed else 0


def _asked(dataset: Path | None, locomo: Path | None, longmemeval: Path | None) -> list[Suite]:
    found: list[Suite] = []
    vectors = embedded.by(StaticEmbedder())
    if dataset is not None:
        beside = suites.beside(dataset) or vectors
        found.append(suites.graded(fixtures.dataset(dataset, dataset.name), beside))
    if locomo is not None:
        found.append(conversations.locomo(locomo, vectors))
    if longmemeval is not None:
        found.append(conversations.longmemeval(longmemeval, vectors))
    return found


def _shipped() -> list[Suite]:
    own = suites.own(embedded.by(StaticEmbedder()))
    return [suites.parity(), suites.staleness(), *suites.lookalikes(), own]
