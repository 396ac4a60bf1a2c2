"""`ghost ledger export`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import Command, Said
from support.ledger import edit, open_recorder, sealed, spawned


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


@pytest.fixture
def sid(home: Path) -> str:
    with open_recorder(home) as recorder:
        return sealed(recorder)


def lines(said: Said) -> list[dict[str, object]]:
    return [json.loads(line) for line in said.out.splitlines()]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("otlp", "resourceSpans"),
        ("ocsf", "class_uid"),
        ("cloudevents", "specversion"),
        ("jsonl", "sid"),
        ("dsse", "payloadType"),
    ],
)
def test_each_form_is_lines_of_json(ghost: Command, sid: str, form: str, name: str) -> None:
    found = lines(ghost("ledger", "export", "--format", form, "--session-id", sid))
    assert found
    assert all(name in each for each in found)


def test_every_session_is_there_without_one_named(ghost: Command, sid: str, home: Path) -> None:
    with open_recorder(home) as recorder:
        other = sealed(recorder)
    found = lines(ghost("ledger", "export"))
    assert {each["sid"] for each in found} == {sid, other}


def test_an_open_session_is_incomplete(ghost: Command, sid: str, home: Path) -> None:
    with open_recorder(home) as recorder:
        spawned(recorder)
    assert sid in ghost("ledger", "export", code=8).out


def test_a_session_without_a_statement_is_named(ghost: Command, home: Path) -> None:
    with open_recorder(home) as recorder:
        owned = spawned(recorder)
    said = ghost("ledger", "export", "--format", "dsse", code=8)
    assert (said.out, f"session {owned.sid}: no statement" in said.err) == ("", True)


def test_a_broken_session_is_told_by_the_code(ghost: Command, sid: str, home: Path) -> None:
    edit(home, "UPDATE entries SET body = ? WHERE sid = ? AND seq = 1", b"{}", sid)
    ghost("ledger", "export", code=7)


def test_no_session_is_no_pass(ghost: Command, home: Path) -> None:
    open_recorder(home).close()
    said = ghost("ledger", "export", code=8)
    assert (said.out, "nothing was exported" in said.err) == ("", True)


def test_without_a_ledger_there_is_nothing_to_export(ghost: Command, home: Path) -> None:
    said = ghost("ledger", "export", "--json", code=4)
    assert '"ledger.missing"' in said.err
