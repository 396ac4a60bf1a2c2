from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ghost_core.errors import GhostError
from ghost_memory.bench import fixtures
from ghost_memory.bench.fixtures import HERE

MEMORY = {"key": "a", "content": "zebra"}
QUERY = {"name": "q", "text": "which animal", "rel": {"a": 3}}


def written(folder: Path, memories: list[Any], queries: list[Any]) -> Path:
    for name, rows in (("memories", memories), ("queries", queries)):
        text = "# a comment\n\n" + "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


def test_a_set_is_read_with_its_comments_left_out(tmp_path: Path) -> None:
    data = fixtures.dataset(written(tmp_path, [MEMORY], [QUERY]), "mine")
    assert [each.key for each in data.records] == ["a"]
    assert data.queries[0].gains == {"a": 3.0}


@pytest.mark.parametrize(
    ("memories", "queries", "said"),
    [
        ([MEMORY, MEMORY], [], "'a': is there twice"),
        ([{"content": "x"}], [], "memories.jsonl line 3: 'key' is a required property"),
        (
            [{**MEMORY, "importance": "high"}],
            [],
            "line 3 at 'importance': 'high' is not of type 'number'",
        ),
        (
            [{**MEMORY, "age_days": 1e9}],
            [],
            "at 'age_days': 1000000000.0 is greater than the maximum",
        ),
        ([{**MEMORY, "importance": math.nan}], [], "line 3: is no JSON"),
        (
            [MEMORY],
            [{**QUERY, "rel": [1]}],
            "queries.jsonl line 3 at 'rel': \\[1\\] is not of type 'object'",
        ),
        ([{**MEMORY, "content": "\ud800"}], [], "line 3: is no JSON"),
        ([{**MEMORY, "key": "b", "content": "\U0001f600"}], [QUERY], "names 'a'"),
        ([], [], "holds no memory"),
        ([MEMORY], [QUERY, QUERY], "'q': is there twice"),
        ([MEMORY], [{**QUERY, "rel": {"b": 1}}], "names 'b'"),
        ([MEMORY], [{**QUERY, "wrong": ["b"]}], "names 'b'"),
        ([{**MEMORY, "supersedes": ["b"]}], [], "names 'b'"),
        ([["a"]], [], "line 3: expected an object"),
    ],
)
def test_what_would_falsify_a_figure_is_refused(
    tmp_path: Path, memories: list[Any], queries: list[Any], said: str
) -> None:
    with pytest.raises(GhostError, match=said):
        fixtures.dataset(written(tmp_path, memories, queries), "mine")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": [1, 2]}', "'b' has no vector"),
        ('{"a": [1, 2], "b": []}', "'b' has no vector"),
        ('{"a": [1, 2], "b": [1]}', "expected one length"),
        ("[]", "'a' has no vector"),
        ("{", "is no JSON"),
    ],
)
def test_vectors_must_be_there_and_of_one_length(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "v.json").write_text(text)
    with pytest.raises(GhostError, match=said):
        fixtures.vectors(tmp_path / "v.json", ["a", "b"])


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(GhostError, match="is no UTF-8"):
        list(fixtures.lines(tmp_path / "x.jsonl"))
    with pytest.raises(GhostError, match="cannot be read"):
        list(fixtures.lines(tmp_path / "y.jsonl"))


def test_the_shipped_sets_are_as_large_as_they_say() -> None:
    published, own = fixtures.dataset(HERE, "parity"), fixtures.dataset(HERE / "own", "own")
    assert (len(published.records), len(published.queries)) == (22, 14)
    assert len(own.records) >= 300
    assert len(own.queries) >= 150
    assert len({each.project for each in own.records}) == 6
    assert len({each.kind for each in own.queries}) == 10


def test_no_project_lies_in_both_halves_of_our_set() -> None:
    own = fixtures.dataset(HERE / "own", "own")
    halves = {
        each.project: {q.split for q in own.queries if q.project == each.project}
        for each in own.queries
    }
    assert sorted(map(sorted, halves.values())) == [["dev"]] * 3 + [["test"]] * 3


def test_the_notice_of_foreign_data_comes_with_it() -> None:
    notice = (HERE / "NOTICE").read_text()
    assert "Apache License" in notice
    assert "wcatz/ghost" in notice


def test_our_set_is_what_its_templates_write() -> None:
    script = Path(__file__).parents[3] / "scripts" / "bench_set.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True, timeout=60)
