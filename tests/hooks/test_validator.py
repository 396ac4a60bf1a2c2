"""One Python validator in a process of its own."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ghost_hooks.validator import BROKEN, main

_PRE = {"request": {"method": "POST", "body": "{}"}}
_POST = {**_PRE, "response": {"status": 200}}


def _run(tmp_path: Path, source: str, document: object = None) -> tuple[int, dict[str, Any]]:
    path = tmp_path / "check.py"
    path.write_text(source)
    stdin = io.BytesIO(json.dumps(_PRE if document is None else document).encode())
    stdout = io.BytesIO()
    expected = hashlib.sha256(source.encode()).hexdigest()
    status = main(str(path), expected, stdin=stdin, stdout=stdout)
    return status, json.loads(stdout.getvalue())


@pytest.mark.parametrize(
    "source",
    [
        "def validate(request): assert request['method'] == 'POST'",
        "def validate(request): return True",
        "def validate(request): return {'verdict': 'allow'}",
        "validate = lambda request: None",
    ],
)
def test_returning_nothing_or_true_allows(tmp_path: Path, source: str) -> None:
    assert _run(tmp_path, source) == (0, {"verdict": "allow"})


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def validate(request): raise ValueError('too much')", "too much"),
        ("def validate(request): raise KeyError", "KeyError"),
        ("def validate(request): return False", "the validator refuses"),
        ("def validate(request): return 0", "the validator refuses"),
        ("def validate(request): return {'verdict': 'maybe'}", "the validator refuses"),
        ("def validate(): pass", "validate() takes 0 positional arguments but 1 was given"),
    ],
)
def test_raising_or_anything_else_denies(tmp_path: Path, source: str, reason: str) -> None:
    assert _run(tmp_path, source) == (1, {"verdict": "deny", "reason": reason})


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = (", "cannot be loaded: '(' was never closed"),
        ("import no_such_module", "cannot be loaded: No module named 'no_such_module'"),
        ("raise SystemExit", "cannot be loaded: SystemExit"),
        ("x = 1", "cannot be loaded: expected a function validate(request)"),
    ],
)
def test_a_file_that_cannot_be_loaded_denies_and_is_told_from_a_verdict(
    tmp_path: Path, source: str, reason: str
) -> None:
    status, said = _run(tmp_path, source)
    assert (status, said["verdict"]) == (BROKEN, "deny")
    assert str(said["reason"]).startswith(reason)


def test_a_verdict_passes_as_it_is(tmp_path: Path) -> None:
    source = "def validate(request): return {'verdict': 'quarantine', 'labels': ['pii']}"
    assert _run(tmp_path, source) == (1, {"verdict": "quarantine", "labels": ["pii"]})


def test_a_reply_goes_to_whoever_takes_two_arguments(tmp_path: Path) -> None:
    two = "def validate(request, response): assert response['status'] == 200"
    assert _run(tmp_path, two, _POST)[0] == 0
    one = "def validate(request): assert request['method'] == 'POST'"
    assert _run(tmp_path, one, _POST)[0] == 0


def test_another_file_than_the_hashed_one_is_not_executed(tmp_path: Path) -> None:
    path = tmp_path / "check.py"
    path.write_text("open('executed', 'w')")
    stdout = io.BytesIO()
    assert main(str(path), "0" * 64, stdin=io.BytesIO(b"{}"), stdout=stdout) == 2
    assert stdout.getvalue() == b""
