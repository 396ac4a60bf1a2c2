"""Reads graded data sets and refuses what would make a figure mean something else.

Lines that begin with `#` are comments. A memory has a key; a query names the keys that answer it, with gains.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from ghost_core.errors import NotFoundError, UsageError
from ghost_memory.bench import forms
from ghost_memory.bench.forms import Form

__all__ = ["HERE", "Dataset", "Graded", "Record", "dataset", "lines", "parsed", "vectors"]

HERE: Final = Path(__file__).parent / "data"
SIZE_LIMIT: Final = 512 * 1024 * 1024
_SURROGATE: Final = re.compile(
    r"\\u[dD][89a-fA-F]"
)  # half of a pair alone is no text (RFC 8259 §8.2)


@dataclass(frozen=True, slots=True)
class Record:
    """A memory of a data set; ages in days before the fixed time of the store."""

    key: str
    content: str
    category: str = "fact"
    importance: float = 0.7
    tags: tuple[str, ...] = ()
    project: str = "bench"
    age_days: float = 0.0
    supersedes: tuple[str, ...] = ()
    resolved: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Graded:
    """A query and the gain of every memory that answers it; none means that nothing does.

    `wrong` are memories that must not stand above the first right one.
    """

    name: str
    text: str
    gains: Mapping[str, float]
    kind: str = ""
    project: str | None = None
    split: str = ""
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Memories and graded queries over them."""

    name: str
    records: tuple[Record, ...]
    queries: tuple[Graded, ...]


def lines(path: Path, form: Form | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file; raises NotFoundError, UsageError `bench.line`, `bench.form`."""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{path.name} line {number}"
        found = _parsed(line, where)
        if not isinstance(found, dict):
            raise UsageError(f"{where}: expected an object", code="bench.line")
        if form is not None:
            forms.require(found, form, where)
        yield found


def dataset(folder: Path, name: str) -> Dataset:
    """Read `memories.jsonl` and `queries.jsonl` of a folder.

    Raises UsageError `bench.key` for a second key and for a gain on a memory that is not there, `bench.empty`
    where there is no memory at all.
    """
    records = tuple(_record(each) for each in lines(folder / "memories.jsonl", forms.MEMORY))
    queries = tuple(_graded(each) for each in lines(folder / "queries.jsonl", forms.QUERY))
    if not records:
        raise UsageError(f"{name}: holds no memory", code="bench.empty")
    _require_single([each.key for each in records])
    _require_single([each.name for each in queries])
    keys = {each.key for each in records}
    named = [(q.name, key) for q in queries for key in (*q.gains, *q.wrong)]
    named += [(each.key, old) for each in records for old in each.supersedes]
    for owner, key in named:
        if key not in keys:
            raise UsageError(f"{owner}: names {key!r}, which is no memory", code="bench.key")
    return Dataset(name, records, queries)


def vectors(path: Path, wanted: list[str]) -> dict[str, list[float]]:
    """Read vectors by key; raises UsageError `bench.vector` where one is missing or of another length."""
    found = parsed(path)
    lengths = set()
    for key in wanted:
        vector = found.get(key) if isinstance(found, dict) else None
        if not isinstance(vector, list) or not vector:
            raise UsageError(f"{path.name}: {key!r} has no vector", code="bench.vector")
        lengths.add(len(vector))
    if len(lengths) > 1:
        raise UsageError(
            f"{path.name}: expected one length, found {sorted(lengths)}", code="bench.vector"
        )
    return {key: [float(each) for each in found[key]] for key in wanted}


def parsed(path: Path) -> Any:
    """Read a JSON file; raises NotFoundError, UsageError `bench.line`."""
    return _parsed(_text(path), path.name)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise UsageError(f"{path.name}: over {SIZE_LIMIT} bytes", code="bench.size")
        return path.read_text("utf-8")
    except OSError as error:
        raise NotFoundError(
            f"file {str(path)!r}: cannot be read, {error.strerror}", code="bench.file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: is no UTF-8", code="bench.line") from error


def _parsed(text: str, where: str) -> Any:
    try:
        found = json.loads(text, parse_constant=_refuse)
        if _SURROGATE.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: is no JSON", code="bench.line") from error
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")  # RFC 8259 §6


def _record(found: Mapping[str, Any]) -> Record:
    return Record(
        key=found["key"],
        content=found["content"],
        category=str(found.get("category", "fact")),
        importance=float(found.get("importance", 0.7)),
        tags=tuple(map(str, found.get("tags", ()))),
        project=str(found.get("project", "bench")),
        age_days=float(found.get("age_days", 0.0)),
        supersedes=tuple(map(str, found.get("supersedes", ()))),
        resolved=bool(found.get("resolved", False)),
        pinned=bool(found.get("pinned", False)),
    )


def _graded(found: Mapping[str, Any]) -> Graded:
    project = found.get("project")
    return Graded(
        name=found["name"],
        text=found["text"],
        gains={str(key): float(gain) for key, gain in dict(found.get("rel", {})).items()},
        kind=str(found.get("class", "")),
        project=None if project is None else str(project),
        split=str(found.get("split", "")),
        wrong=tuple(map(str, found.get("wrong", ()))),
    )


def _require_single(keys: list[str]) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise UsageError(f"key {key!r}: is there twice", code="bench.key")
        seen.add(key)
