"""The suites of `ghost bench`: parity with the public origin, updates against look-alikes, our own set.

Each condition is one way to search; `default` is the product's own, with nothing set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Final

from sqlalchemy.engine import Connection

from ghost_core.look import is_file
from ghost_core.settings_models import SearchSettings
from ghost_memory.asking import Found, Query, Vectors
from ghost_memory.bench import fixtures, metrics, origin, updates
from ghost_memory.bench.fixed import FixedVectors
from ghost_memory.bench.fixtures import HERE, Dataset, Graded
from ghost_memory.bench.origin import Rules
from ghost_memory.bench.store import NOW, filled
from ghost_memory.search import search

__all__ = [
    "Condition",
    "Suite",
    "beside",
    "condition",
    "fixed",
    "graded",
    "lookalikes",
    "own",
    "parity",
    "staleness",
    "sweep",
]

PARITY_WEIGHT: Final = (
    0.5  # measured for models of the size of the fixtures' own (nomic-embed-text)
)
WEIGHTS: Final = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
CONVEX_WEIGHTS: Final = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.7")

type Ask = Callable[[Graded], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to search, and its figures by name."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Suite:
    """Conditions over the same questions; `notes` say how sure a difference is."""

    name: str
    n: int
    conditions: tuple[Condition, ...]
    notes: tuple[str, ...] = field(default=())


def parity() -> Suite:
    """Repeat the origin's published figures with its rules and vectors, then ask the same of ours."""
    data, vectors = _published()
    kept = _answered(data.queries)
    with filled(data.records) as connection:
        origin.index(connection)

        def by(rules: Rules) -> list[metrics.Figures]:
            return _figures(
                kept,
                lambda each: origin.ranked(connection, each.text, rules=rules, vectors=vectors),
            )

        ours = {
            "words": _ours(connection, None, SearchSettings()),
            "default": _ours(connection, vectors, SearchSettings()),
        }
        conditions = (
            condition("origin fts", by(Rules())),
            condition("origin vector", by(Rules(words=False, vectors=True))),
            condition("origin hybrid rrf", by(Rules(vectors=True))),
            *(condition(name, _figures(kept, ask)) for name, ask in ours.items()),
        )
    return Suite("parity", len(kept), conditions)


def sweep() -> Suite:
    """Repeat the origin's sweep over the weight of the vectors, then ours."""
    data, vectors = _published()
    kept = _answered(data.queries)
    with filled(data.records) as connection:
        origin.index(connection)

        def origins(weight: float) -> Ask:
            rules = Rules(vectors=True, weight=weight)
            return lambda each: origin.ranked(connection, each.text, rules=rules, vectors=vectors)

        conditions = [
            condition(f"origin rrf {weight}", _figures(kept, origins(weight))) for weight in WEIGHTS
        ]
        for weight in CONVEX_WEIGHTS:
            ask = _ours(connection, vectors, SearchSettings(vector_weight=Decimal(weight)))
            conditions.append(condition(f"convex {weight}", _figures(kept, ask)))
    return Suite("sweep", len(kept), tuple(conditions))


def staleness() -> Suite:
    """Ask for facts that were updated; the newest must stand above what it replaced."""
    return _updated("staleness", updates.stale(HERE / "staleness.jsonl"))


def lookalikes() -> Iterator[Suite]:
    """Ask for old facts with newer look-alikes, in a category that decays and in one that does not."""
    for category in ("fact", "dependency"):
        yield _updated(
            f"recency trap, {category}",
            updates.trap(HERE / "recency_trap.jsonl", category=category),
        )


def own(vectors: Callable[[Dataset], Vectors] | None = None, *, split: str = "test") -> Suite:
    """Ask the test half of our own set, or the half that was tuned on (`dev`)."""
    data = fixtures.dataset(HERE / "own", "own")
    kept = tuple(each for each in data.queries if each.split == split)
    return graded(Dataset(f"own, {split}", data.records, kept), vectors)


def graded(data: Dataset, vectors: Callable[[Dataset], Vectors] | None = None) -> Suite:
    """Ask a graded set in every way there is, with the default's lead over each other way."""
    made = vectors(data) if vectors else None
    ways: dict[str, tuple[Vectors | None, SearchSettings]] = {"words": (None, SearchSettings())}
    if made is not None:
        ways["vector"] = (made, SearchSettings(vector_weight=Decimal(1)))
        ways["rrf"] = (made, SearchSettings(fusion="rrf", vector_weight=Decimal("0.7")))
    ways["default"] = (made, SearchSettings())
    kept = _answered(data.queries)
    with filled(data.records) as connection:
        figures = {name: _figures(kept, _ours(connection, *way)) for name, way in ways.items()}
        said = _verdicts(connection, data.queries, ways["default"])
    conditions = [condition(name, each) for name, each in figures.items()]
    conditions[-1] = Condition("default", {**conditions[-1].values, **said})
    return Suite(data.name, len(kept), tuple(conditions), tuple(_leads(figures)))


def beside(folder: Path) -> Callable[[Dataset], Vectors] | None:
    """Return the vectors that lie in a folder of graded data as `embeddings.json`, if they do."""
    path = folder / "embeddings.json"
    return (lambda data: fixed(data, path, PARITY_WEIGHT)) if is_file(path) else None


def _published() -> tuple[Dataset, FixedVectors]:
    data = fixtures.dataset(HERE, "parity")
    return data, fixed(data, HERE / "embeddings.json", PARITY_WEIGHT)


def fixed(data: Dataset, path: Path, weight: float) -> FixedVectors:
    """Return the vectors of a file that names them by the keys and names of a set."""
    wanted = [*(each.key for each in data.records), *(each.name for each in data.queries)]
    found = fixtures.vectors(path, wanted)
    return FixedVectors.of(
        weight,
        {each.key: found[each.key] for each in data.records},
        {each.text: found[each.name] for each in data.queries},
        projects={each.key: each.project for each in data.records},
    )


def _answered(queries: Sequence[Graded]) -> list[Graded]:
    return [each for each in queries if any(gain > 0 for gain in each.gains.values())]


def _figures(queries: Sequence[Graded], ask: Ask) -> list[metrics.Figures]:
    return [metrics.of(ask(each), each.gains) for each in queries]


def condition(name: str, figures: Sequence[metrics.Figures]) -> Condition:
    """Return the mean figures of one way to search, with the interval of the last one."""
    sure = metrics.interval([each.ndcg_at_10 for each in figures])
    bounds = {"ndcg_low": round(sure.low, 4), "ndcg_high": round(sure.high, 4)}
    return Condition(name, {**metrics.mean(figures).rounded(), **bounds})


def _found(
    connection: Connection, query: Graded, vectors: Vectors | None, settings: SearchSettings
) -> Found:
    asked = Query(query.text, query.project, limit=metrics.DEPTH)
    return search(connection, asked, vectors=vectors, settings=settings, now=NOW)


def _ours(connection: Connection, vectors: Vectors | None, settings: SearchSettings) -> Ask:
    def ask(query: Graded) -> list[str]:
        return [each.memory.id for each in _found(connection, query, vectors, settings).hits]

    return ask


def _updated(name: str, scenarios: updates.Scenarios) -> Suite:
    """Ask one set of scenarios by the origin's rules, one by one, and by ours."""
    rules = {
        "no reordering": Rules(),
        "decay": Rules(decay=1.0),
        "demotion": Rules(demote=True),
        "decay and demotion": Rules(decay=1.0, demote=True),
        "demotion, weak decay": Rules(decay=0.05, demote=True),
        "demotion, tie-break": Rules(decay=0.02, demote=True),
    }
    with filled(scenarios.records) as connection:
        origin.index(connection)

        def by(rule: Rules) -> Callable[[str], Sequence[str]]:
            return lambda text: origin.ranked(connection, text, rules=rule)

        ours = _ours(connection, None, SearchSettings())
        ways = {f"origin, {rule}": by(each) for rule, each in rules.items()}
        ways["default"] = lambda text: ours(Graded(text, text, {}))
        conditions = tuple(_shares(way, scenarios.shares(ask)) for way, ask in ways.items())
    return Suite(name, len(scenarios.probes), conditions)


def _shares(name: str, shares: updates.Shares) -> Condition:
    values = {"wins": shares.wins, "first": shares.first, "found": shares.found}
    return Condition(name, {key: round(value, 4) for key, value in values.items()})


def _verdicts(
    connection: Connection,
    queries: Sequence[Graded],
    way: tuple[Vectors | None, SearchSettings],
) -> dict[str, float]:
    """Return how often the verdict is right: on what has an answer, and on what has none."""
    said = [(bool(each.gains), _found(connection, each, *way).verdict) for each in queries]
    known = [verdict == "answerable" for answered, verdict in said if answered]
    unknown = [verdict != "answerable" for answered, verdict in said if not answered]
    rates = {"answerable_said": known, "no_answer_said": unknown}
    return {name: round(sum(each) / len(each), 4) for name, each in rates.items() if each}


def _leads(figures: Mapping[str, Sequence[metrics.Figures]]) -> Iterator[str]:
    """Say how far the default leads each other way, paired by question."""
    best = figures["default"]
    for name, others in figures.items():
        if name == "default":
            continue
        lead = [one.ndcg_at_10 - two.ndcg_at_10 for one, two in zip(best, others, strict=True)]
        sure = metrics.interval(lead)
        yield f"default - {name}: NDCG@10 {sure.mean:+.4f} [{sure.low:+.4f}, {sure.high:+.4f}]"
