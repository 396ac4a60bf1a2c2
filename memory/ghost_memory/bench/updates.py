"""Two opposite gates: stale facts must lose against their updates, old truths must win against look-alikes.

Each scenario is a fact over time. A ranking that simply prefers what is new passes the first and fails the
second; the share of both is the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghost_core.errors import UsageError
from ghost_memory.bench.fixtures import Record, lines

__all__ = ["Probe", "Scenarios", "Shares", "stale", "trap"]


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, what answers it, and what must stand below."""

    text: str
    right: str
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Memories with their ages, and probes over them."""

    records: tuple[Record, ...]
    probes: tuple[Probe, ...]

    def shares(self, ask: Callable[[str], Sequence[str]]) -> Shares:
        """Ask every probe; `ask` returns keys, best first."""
        found = [
            (_place(order, each.right), each, order)
            for each in self.probes
            for order in (ask(each.text),)
        ]
        wins = sum(
            place is not None and all(_below(order, wrong, place) for wrong in each.wrong)
            for place, each, order in found
        )
        count = max(1, len(self.probes))
        seen = sum(place is not None for place, _, _ in found)
        first = sum(place == 0 for place, _, _ in found)
        return Shares(wins / count, first / count, seen / count)


@dataclass(frozen=True, slots=True)
class Shares:
    """How often the right one stands above all wrong ones, first of all, and in the list at all."""

    wins: float
    first: float
    found: float


def stale(path: Path, *, category: str = "dependency", edges: bool = True) -> Scenarios:
    """Read facts that were updated; with `edges` each version replaces all before it."""
    records: list[Record] = []
    probes: list[Probe] = []
    for said in lines(path):
        versions = _list(said, "versions")
        keys = tuple(f"{said['name']}-{place}" for place in range(len(versions)))
        for place, each in enumerate(versions):
            older = keys[:place] if edges else ()
            records.append(_record(keys[place], each, category, older))
        probes += [Probe(str(each["text"]), keys[-1], keys[:-1]) for each in _list(said, "probes")]
    return Scenarios(tuple(records), tuple(probes))


def trap(path: Path, *, category: str = "fact") -> Scenarios:
    """Read old facts that hold, each with newer ones that only look like it."""
    records: list[Record] = []
    probes: list[Probe] = []
    for said in lines(path):
        right = f"{said['name']}-right"
        wrong = tuple(f"{said['name']}-trap-{n}" for n in range(len(_list(said, "traps"))))
        records.append(_record(right, said["correct"], category))
        records += [_record(k, t, category) for k, t in zip(wrong, said["traps"], strict=True)]
        probes += [Probe(str(each["text"]), right, wrong) for each in _list(said, "probes")]
    return Scenarios(tuple(records), tuple(probes))


def _record(key: str, said: Any, category: str, older: tuple[str, ...] = ()) -> Record:
    return Record(
        key, str(said["content"]), category, age_days=float(said["age_days"]), supersedes=older
    )


def _list(said: dict[str, Any], name: str) -> list[Any]:
    found = said.get(name)
    if not isinstance(found, list) or not found:
        raise UsageError(f"{said.get('name')}: expected a list {name!r}", code="bench.line")
    return found


def _place(order: Sequence[str], key: str) -> int | None:
    return order.index(key) if key in order else None


def _below(order: Sequence[str], wrong: str, place: int) -> bool:
    found = _place(order, wrong)
    return found is None or found > place
