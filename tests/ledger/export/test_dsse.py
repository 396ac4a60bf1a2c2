from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from ghost_ledger import statement
from ghost_ledger.bundle import Bundle
from ghost_ledger.export import dsse
from support.bundles import Log, Session


@pytest.fixture
def session() -> Session:
    return Log().session().action()


def test_a_sealed_session_has_an_envelope(session: Session) -> None:
    expected = statement.encode(session.close().sealed())
    session.seal_up(dsse=statement.sign(session.key, session.sealed()))
    made = dsse.envelope(session.bundle())
    assert made is not None
    assert base64.b64decode(made["payload"]) == expected
    assert json.loads(dsse.line(made)) == made
    assert dsse.line(made).count(b"\n") == 1


def test_what_is_open_or_was_sealed_without_a_statement_has_none(session: Session) -> None:
    assert dsse.envelope(session.bundle()) is None
    assert dsse.envelope(session.close().seal_up().bundle()) is None


def test_what_cannot_be_read_has_none(session: Session) -> None:
    made = session.finish().bundle()
    assert dsse.envelope(Bundle(())) is None
    for place in (0, 3, 4):
        notes = list(made.entries)
        notes[place] = b"nonsense"
        assert dsse.envelope(replace(made, entries=tuple(notes))) is None


def test_a_spawn_that_names_no_key_has_none(session: Session) -> None:
    made = session.finish().bundle()
    other = Log().session()
    other.add_raw(type="session.spawn", seq=0, prev="0" * 64)
    assert dsse.envelope(replace(made, entries=(other.notes[1], *made.entries[1:]))) is None
