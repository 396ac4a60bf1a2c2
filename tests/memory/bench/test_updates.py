from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import UsageError
from ghost_memory.bench import updates
from ghost_memory.bench.fixtures import HERE
from ghost_memory.bench.updates import Probe, Scenarios


def test_the_newest_version_replaces_all_before_it() -> None:
    found = updates.stale(HERE / "staleness.jsonl")
    assert (len(found.records), len(found.probes)) == (51, 48)
    chains = [each for each in found.records if len(each.supersedes) == 2]
    assert len(chains) == 3
    assert updates.stale(HERE / "staleness.jsonl", edges=False).records[1].supersedes == ()


def test_a_trap_is_a_newer_memory_without_an_edge() -> None:
    found = updates.trap(HERE / "recency_trap.jsonl", category="gotcha")
    assert (len(found.records), len(found.probes)) == (29, 14)
    assert {each.category for each in found.records} == {"gotcha"}
    assert not any(each.supersedes for each in found.records)


def test_shares_tell_above_first_and_found() -> None:
    scenarios = Scenarios((), (Probe("one", "a", ("b",)), Probe("two", "a", ("b",))))
    orders = {"one": ["x", "a", "b"], "two": ["b", "a"]}
    assert scenarios.shares(lambda text: orders[text]) == updates.Shares(0.5, 0.0, 1.0)
    assert scenarios.shares(lambda _: []) == updates.Shares(0.0, 0.0, 0.0)
    assert scenarios.shares(lambda _: ["a"]) == updates.Shares(1.0, 1.0, 1.0)


def test_a_scenario_without_versions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"name": "n", "versions": []}')
    with pytest.raises(UsageError, match="expected a list 'versions'"):
        updates.stale(tmp_path / "x.jsonl")
