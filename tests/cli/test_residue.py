"""`ghost residue`: bytes as stored."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ghost_cli.main import main
from ghost_core import ids
from support.ledger import CLOSED, open_recorder, spawned


def _sealed(home: Path) -> str:
    with open_recorder(home) as recorder:
        owned = spawned(recorder)
        owned.act()
        recorder.seal(owned.sid, CLOSED)
        return owned.sid


def _json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_entries_root_and_seal_are_printed_as_stored(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sid = _sealed(home)
    assert main(["residue", "--session-id", sid]) == 0
    document = _json(capsys)
    types = [entry["type"] for entry in document["entries"]]
    assert types == [
        "session.spawn", "action.intent", "action.outcome", "session.closed", "session.seal",
    ]  # fmt: skip
    assert document["schema"] == "ghost/residue/v1"
    assert document["seal"].startswith(
        f"{json.loads(document['entries'][0]['body'])['log']}/s/{sid}\n4\n"
    )
    assert len(document["root_signature"].removeprefix("ed25519_root_sig_")) == 128
    assert len(document["root_hash"].removeprefix("sha256_root_")) == 64


def test_the_leaf_hash_can_be_computed_from_the_note(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["residue", "--session-id", _sealed(home)]) == 0
    for entry in _json(capsys)["entries"]:
        leaf = hashlib.sha256(b"\x00" + entry["note"].encode()).hexdigest()
        assert entry["entry_hash"] == f"sha256_{leaf}"
        assert entry["note"].startswith(entry["body"] + "\n\n")


def test_without_a_session_all_are_printed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = _sealed(home), _sealed(home)
    assert main(["residue"]) == 0
    assert [item["session_id"] for item in _json(capsys)["sessions"]] == [first, second]


def test_an_open_session_has_no_root_yet(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_recorder(home) as recorder:
        sid = spawned(recorder).sid
    assert main(["residue", "--session-id", sid]) == 0
    document = _json(capsys)
    assert (document["root_hash"], document["root_signature"], document["seal"]) == (
        None,
        None,
        None,
    )


def test_an_unknown_session_is_missing(home: Path) -> None:
    _sealed(home)
    assert main(["residue", "--session-id", ids.session_id()]) == 4
