"""Two public sets of conversations, read from where the user has them: LoCoMo and LongMemEval.

Neither is shipped (LoCoMo is CC BY-NC, LongMemEval is large). Each conversation is a store of its own, every
turn a memory; what is measured is whether the turns, or the sessions, that hold the evidence are found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ghost_core.errors import UsageError
from ghost_core.settings_models import SearchSettings
from ghost_memory.asking import Query, Vectors
from ghost_memory.bench import fixtures, forms, metrics
from ghost_memory.bench.fixtures import Dataset, Graded, Record
from ghost_memory.bench.store import NOW, filled
from ghost_memory.bench.suites import Suite, condition
from ghost_memory.search import search

__all__ = ["locomo", "longmemeval"]

ANSWERABLE: Final = frozenset({1, 2, 3, 4})
SESSION_DEPTH: Final = 100
_SESSION: Final = re.compile(forms.SESSION)

type Embed = Callable[[Dataset], Vectors] | None


def locomo(path: Path, vectors: Embed = None) -> Suite:
    """Measure turns found per question of `locomo10.json`, categories 1 to 4 with evidence."""
    said = fixtures.parsed(path)
    forms.require(said, forms.CONVERSATIONS, path.name)
    sets = [_locomo(each, number) for number, each in enumerate(said)]
    return _measured("locomo", sets, vectors, _by_turn)


def longmemeval(path: Path, vectors: Embed = None) -> Suite:
    """Measure sessions found per question of a LongMemEval file, abstentions left out."""
    said = [each for each in _list(path) if not str(each.get("question_id", "")).endswith("_abs")]
    for number, each in enumerate(said):
        forms.require(each, forms.QUESTION, f"{path.name}: question {number}")
    return _measured("longmemeval", [_longmemeval(each) for each in said], vectors, _by_session)


def _measured(
    name: str, sets: Sequence[Dataset], vectors: Embed, key: Callable[[str], str]
) -> Suite:
    ways: dict[str, list[metrics.Figures]] = {"words": []}
    if vectors is not None:
        ways["default"] = []
    for each in sets:
        if not each.queries:
            continue
        made = vectors(each) if vectors else None
        with filled(each.records) as connection:
            for query in each.queries:
                asked = Query(query.text, query.project, limit=SESSION_DEPTH)
                for way, figures in ways.items():
                    leg = made if way == "default" else None
                    found = search(
                        connection, asked, vectors=leg, settings=SearchSettings(), now=NOW
                    )
                    order = dict.fromkeys(key(hit.memory.id) for hit in found.hits)
                    figures.append(metrics.of(list(order), query.gains))
    count = len(ways["words"])
    if not count:
        raise UsageError(f"{name}: holds no question with evidence", code="bench.empty")
    return Suite(name, count, tuple(condition(way, each) for way, each in ways.items()))


def _by_turn(memory_id: str) -> str:
    return memory_id


def _by_session(memory_id: str) -> str:
    return memory_id.rpartition("#")[0]


def _locomo(said: Mapping[str, Any], number: int) -> Dataset:
    turns = {
        turn["dia_id"]: f"{turn.get('speaker', '')}: {turn.get('text', '')}"
        for name, session in said["conversation"].items()
        if _SESSION.fullmatch(name)
        for turn in session
    }
    records = tuple(Record(key, text) for key, text in turns.items())
    queries = tuple(_locomo_queries(said, number, turns))
    return Dataset(f"locomo {number}", records, queries)


def _locomo_queries(
    said: Mapping[str, Any], number: int, turns: Mapping[str, str]
) -> Iterator[Graded]:
    for place, each in enumerate(said["qa"]):
        evidence = {key: 1.0 for key in each.get("evidence", ()) if key in turns}
        if each.get("category") in ANSWERABLE and evidence:
            yield Graded(f"{number}-{place}", each["question"], evidence)


def _longmemeval(said: Mapping[str, Any]) -> Dataset:
    ids, said_in = said["haystack_session_ids"], said["haystack_sessions"]
    if len(ids) != len(said_in):
        raise UsageError(
            f"{said['question_id']}: {len(ids)} ids, {len(said_in)} sessions", code="bench.form"
        )
    sessions = dict(zip(ids, said_in, strict=True))
    records = tuple(
        Record(f"{key}#{place}", turn.get("content") or "-")
        for key, session in sessions.items()
        for place, turn in enumerate(session)
    )
    gains = dict.fromkeys(said["answer_session_ids"], 1.0)
    query = Graded(said["question_id"], said["question"], gains)
    return Dataset(query.name, records, (query,))


def _list(path: Path) -> list[dict[str, Any]]:
    found = fixtures.parsed(path)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise UsageError(f"{path.name}: expected a list of objects", code="bench.line")
    return found
