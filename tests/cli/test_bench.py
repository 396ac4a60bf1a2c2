"""`ghost bench`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghost_cli.main import main


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with a graded set of two memories."""
    folder = tmp_path / "mine"
    folder.mkdir()
    memories = [
        {"key": "a", "content": "zebra crossing"},
        {"key": "b", "content": "striped animal"},
    ]
    queries = [{"name": "q", "text": "where is the zebra", "rel": {"a": 1}}]
    for name, rows in (("memories", memories), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


def test_a_set_of_ones_own_is_measured(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--dataset", str(data), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (suite,) = document["suites"]
    assert (document["schema"], suite["name"], suite["n"]) == ("ghost/bench/v1", "mine", 1)
    assert suite["conditions"][-1]["condition"] == "default"
    assert suite["conditions"][-1]["recall_at_1"] == 1.0


def test_vectors_beside_the_set_are_used(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "embeddings.json").write_text('{"a": [1, 0], "b": [0, 1], "q": [1, 0]}')
    assert main(["bench", "--dataset", str(data)]) == 0
    out = capsys.readouterr().out
    assert "vector" in out
    assert "default - words: NDCG@10 +0.0000 [+0.0000, +0.0000]" in out


def test_below_a_floor_the_exit_is_one(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "--dataset", str(data), "--floor"]
    assert main([*words, "mine/default/ndcg_at_10=1.0"]) == 0
    assert main([*words, "mine/default/ndcg_at_10=1.1"]) == 1
    assert "expected at least 1.1, found 1.0" in capsys.readouterr().err


def test_a_floor_that_is_none_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "--floor", "high"]) == 2
    assert "SUITE/CONDITION/FIGURE=NUMBER" in capsys.readouterr().err


def test_a_file_that_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--locomo", str(tmp_path / "none.json")]) == 4
    assert "none.json" in capsys.readouterr().err


@pytest.mark.slow
def test_the_sweep_tries_both_mixes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--sweep", "--json"]) == 0
    (suite,) = json.loads(capsys.readouterr().out)["suites"]
    names = [each["condition"] for each in suite["conditions"]]
    assert names[:1] == ["origin rrf 0.3"]
    assert names[-1:] == ["convex 0.7"]


@pytest.mark.slow
def test_all_that_is_shipped_is_measured(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--floor", "parity/default/ndcg_at_10=0.99"]) == 0
    out = capsys.readouterr().out
    for suite in ("parity (14", "staleness (48", "recency trap, fact (14", "own, test (90"):
        assert suite in out
    assert not home.exists()
