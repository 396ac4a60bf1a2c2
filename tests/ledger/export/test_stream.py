from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import NotFoundError
from ghost_core.paths import Home
from ghost_ledger.export import stream
from ghost_ledger.reader import Ledger
from support.ledger import CLOSED, denied, edit, open_recorder, spawned, url_of


@pytest.fixture
def sid(tmp_path: Path) -> str:
    with open_recorder(tmp_path) as recorder:
        owned, other = spawned(recorder), spawned(recorder)
        owned.act()
        recorder.append(denied(owned.sid))
        recorder.seal(owned.sid, CLOSED)
        recorder.seal(other.sid, CLOSED)
    return owned.sid


@pytest.fixture
def ledger(tmp_path: Path, sid: str) -> Iterator[Ledger]:
    engine = db.engine(url_of(tmp_path))
    yield Ledger(engine, Home(tmp_path))
    engine.dispose()


@pytest.mark.parametrize(
    ("form", "count"),
    [("otlp", 1), ("ocsf", 2), ("cloudevents", 4), ("jsonl", 6), ("dsse", 1)],
)
def test_each_form_has_its_documents(
    ledger: Ledger, tmp_path: Path, sid: str, form: stream.Form, count: int
) -> None:
    (found,) = stream.sessions(ledger, Home(tmp_path), form, sid=sid)
    assert (len(list(found.documents)), found.exit_code) == (count, 0)


def test_an_entry_is_there_with_its_hash_and_signature(
    ledger: Ledger, tmp_path: Path, sid: str
) -> None:
    (found,) = stream.sessions(ledger, Home(tmp_path), "jsonl", sid=sid)
    stored = ledger.entries(sid)
    made = list(found.documents)
    assert [each["entry_hash"] for each in made] == [each.leaf_hash.hex() for each in stored]
    assert [each["signature"] for each in made] == [each.sig.hex() for each in stored]
    assert [each["type"] for each in made][:2] == ["session.spawn", "action.intent"]
    assert made[1]["fields"]["method"] == "POST"


def test_all_sessions_are_exported_in_their_order(ledger: Ledger, tmp_path: Path) -> None:
    found = list(stream.sessions(ledger, Home(tmp_path), "otlp"))
    assert [each.exit_code for each in found] == [0, 0]


def test_a_session_without_a_seal_has_no_statement(tmp_path: Path, ledger: Ledger) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
    (found,) = stream.sessions(ledger, Home(tmp_path), "dsse", sid=owned.sid)
    assert (found.sid, list(found.documents), found.exit_code) == (owned.sid, [], 8)


def test_a_broken_session_says_so(ledger: Ledger, tmp_path: Path, sid: str) -> None:
    whole = len(list(next(stream.sessions(ledger, Home(tmp_path), "jsonl", sid=sid)).documents))
    edit(tmp_path, "UPDATE entries SET body = ? WHERE sid = ? AND seq = 1", b"{}", sid)
    (found,) = stream.sessions(ledger, Home(tmp_path), "jsonl", sid=sid)
    assert found.exit_code == 7
    assert len(list(found.documents)) == whole - 1  # what is no entry any more cannot be written


def test_an_entry_of_another_version_is_there_with_its_problem(
    ledger: Ledger, tmp_path: Path, sid: str
) -> None:
    newer = "UPDATE entries SET body = CAST(replace(body, '\"v\":1', '\"v\":9') AS BLOB) WHERE sid = ? AND seq = 1"
    edit(tmp_path, newer, sid)
    (found,) = stream.sessions(ledger, Home(tmp_path), "jsonl", sid=sid)
    assert [each["seq"] for each in found.documents if each["fields"].get("problem")] == [1]


def test_a_session_that_is_not_there_is_an_error(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        list(stream.sessions(ledger, Home(tmp_path), "otlp", sid="gh_" + "0" * 32))
