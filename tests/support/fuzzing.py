"""Runs one property for a number of examples (tests) or for its share of a time (`make fuzz`)."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
"""How long all properties are tried together; 0 = the examples that their tests ask for, always the same."""
KEPT = Path(__file__).parent.parent.parent / ".hypothesis" / "fuzz"
ROUND = 200


@dataclass(slots=True)
class Tally:
    """What became of the examples, for the report."""

    examples: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, kinds: Iterable[str], *, forwarded: int, reasons: Iterable[str]) -> None:
        """Count one example: the requests that an upstream saw, and the codes of the refusals."""
        codes = list(reasons)
        end = "refused" if codes else "forwarded" if forwarded else "closed"
        self.outcomes["forwarded"] += forwarded
        self.outcomes["refused"] += len(codes)
        self.outcomes["closed"] += end == "closed"
        self.outcomes.update(codes)
        self.kinds.update(f"{kind}: {end}" for kind in set(kinds) or {"nothing odd"})

    def lines(self) -> list[str]:
        """Return the report."""
        counts = ", ".join(f"{count} {name}" for name, count in self.outcomes.most_common())
        rows = [f"  {name} {count}" for name, count in sorted(self.kinds.items())]
        return [f"{self.examples} examples; {counts}", *rows]


def fuzz[T](
    check: Callable[[T], None],
    strategy: st.SearchStrategy[T],
    tally: Tally | None = None,
    *,
    examples: int,
    share: float,
) -> None:
    """Try the property; in a long run it gets its share of the time, each round with a seed of its own."""
    tally = tally or Tally()

    def run(chosen: settings, number: int | None) -> None:
        made = _given(strategy, check, tally)
        chosen(made if number is None else seed(number)(made))()

    _tried(run, tally, examples=examples, share=share)


def fuzz_machine(
    machine: Callable[[], RuleBasedStateMachine], *, examples: int, steps: int, share: float
) -> None:
    """Try a state machine for runs of so many steps, as `fuzz` tries a property."""
    tally = Tally()

    def made() -> RuleBasedStateMachine:
        tally.examples += 1
        return machine()

    def run(chosen: settings, number: int | None) -> None:
        chosen = settings(chosen, stateful_step_count=steps)
        run_state_machine_as_test(
            made if number is None else seed(number)(made),  # type: ignore[arg-type]
            settings=chosen,
        )

    _tried(run, tally, examples=examples, share=share)


type Run = Callable[[settings, int | None], None]
"""Tries a round of examples; the number is a seed."""


def _tried(run: Run, tally: Tally, *, examples: int, share: float) -> None:
    if SECONDS:
        _long(run, tally, SECONDS * share)
        return
    chosen = settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    run(chosen, None)


def _given[T](
    strategy: st.SearchStrategy[T], check: Callable[[T], None], tally: Tally
) -> Callable[[], None]:
    """Return the property, which takes its settings once."""

    @given(strategy)
    def counted(drawn: T) -> None:
        tally.examples += 1
        check(drawn)

    return counted


def _long(run: Run, tally: Tally, seconds: float) -> None:
    name = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[2].partition(" ")[0]
    chosen = settings(
        max_examples=ROUND,
        database=DirectoryBasedExampleDatabase(KEPT / name),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    end, found, number = time.monotonic() + seconds, "a finding, see below", 0
    try:
        while time.monotonic() < end:
            number = secrets.randbits(32)
            run(chosen, number)
        found = "nothing found"
    finally:
        report = [f"{name}: {found}; last seed {number}", *tally.lines()]
        sys.stderr.write("\n".join(["", *report, ""]))
