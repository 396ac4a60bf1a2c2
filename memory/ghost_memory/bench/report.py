"""What `ghost bench` prints, and the floors below which it fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ghost_core.errors import UsageError
from ghost_memory.bench.suites import Suite

__all__ = ["SCHEMA", "Floor", "below", "document", "floor", "text"]

SCHEMA: Final = "ghost/bench/v1"
_SHORT: Final = {
    "recall_at_1": "R@1", "recall_at_5": "R@5", "recall_at_10": "R@10", "mrr_at_10": "MRR@10",
    "ndcg_at_10": "NDCG@10", "ndcg_low": "low", "ndcg_high": "high", "wins": "wins", "first": "first",
    "found": "found", "answerable_said": "said yes", "no_answer_said": "said no",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Floor:
    """The least that one figure of one condition may be."""

    suite: str
    condition: str
    figure: str
    least: float


def floor(said: str) -> Floor:
    """Read `SUITE/CONDITION/FIGURE=NUMBER`; raises UsageError `bench.floor`."""
    name, _, number = said.rpartition("=")
    parts = name.split("/")
    try:
        suite, condition, figure = parts
        return Floor(suite, condition, figure, float(number))
    except ValueError as error:
        raise UsageError(
            f"floor {said[:80]!r}: expected SUITE/CONDITION/FIGURE=NUMBER",
            code="bench.floor",
            hint="for example --floor parity/default/ndcg_at_10=0.99",
        ) from error


def below(suites: Sequence[Suite], floors: Sequence[Floor]) -> list[str]:
    """Return a line for each floor that is not held; raises UsageError for one that names nothing."""
    figures = {
        (suite.name, condition.name, figure): value
        for suite in suites
        for condition in suite.conditions
        for figure, value in condition.values.items()
    }
    missed = []
    for each in floors:
        name = f"{each.suite}/{each.condition}/{each.figure}"
        found = figures.get((each.suite, each.condition, each.figure))
        if found is None:
            known = ", ".join(sorted({"/".join(key[:2]) for key in figures}))
            raise UsageError(f"floor {name!r}: names no figure", code="bench.floor", hint=known)
        if found < each.least:
            missed.append(f"{name}: expected at least {each.least}, found {found}")
    return missed


def document(suites: Sequence[Suite]) -> dict[str, object]:
    """Return the JSON document."""
    return {
        "schema": SCHEMA,
        "suites": [
            {
                "name": suite.name,
                "n": suite.n,
                "conditions": [{"condition": c.name, **c.values} for c in suite.conditions],
                **({"notes": list(suite.notes)} if suite.notes else {}),
            }
            for suite in suites
        ],
    }


def text(suites: Sequence[Suite]) -> str:
    """Return a table for each suite."""
    return "\n\n".join("\n".join(_table(each)) for each in suites)


def _table(suite: Suite) -> Iterator[str]:
    yield f"{suite.name} ({suite.n} questions)"
    columns = [name for name in _SHORT if any(name in each.values for each in suite.conditions)]
    width = max(len(each.name) for each in suite.conditions)
    yield "  " + " " * width + "".join(f"{_SHORT[name]:>10}" for name in columns)
    for each in suite.conditions:
        yield f"  {each.name:<{width}}" + "".join(_cell(each.values, name) for name in columns)
    for note in suite.notes:
        yield f"  {note}"


def _cell(values: Mapping[str, float], name: str) -> str:
    return f"{values[name]:>10.3f}" if name in values else " " * 10
