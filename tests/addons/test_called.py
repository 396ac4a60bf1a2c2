"""What an outcome's call was: remembered from its intent, or read from the ledger."""

from __future__ import annotations

import pytest

from ghost_addons import called
from ghost_addons.called import Called
from ghost_core import db
from ghost_ledger.export.cloudevents import CALL_NAMES
from ghost_ledger.reader import Ledger
from support.agent import secure_connect
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

ENTRY = {
    "id": "act_" + "1" * 32,
    "tool": "shop",
    "action": "buy",
    "method": "POST",
    "host": "a.test",
}
NAMED = {name: ENTRY[name] for name in CALL_NAMES}


@pytest.fixture
def ledger(proxy: LiveProxy) -> Ledger:
    return Ledger(proxy.proxy.services.ledger._engine)


def test_a_call_is_remembered_until_its_end(ledger: Ledger) -> None:
    found = Called(ledger)
    found.begin(ENTRY)
    assert found.end(ENTRY["id"]) == NAMED
    assert found.end(ENTRY["id"]) == {}


def test_what_was_not_heard_is_read_from_the_ledger(
    proxy: LiveProxy, session: LiveSession, up: Upstream, ledger: Ledger
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
    intent = next(each for each in proxy.entries(session) if each.type == "action.intent")
    assert Called(ledger).end(intent.id) == {name: intent.fields[name] for name in CALL_NAMES}


def test_calls_without_an_end_take_no_memory_for_ever(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(called, "_LIMIT", 1)
    found = Called(ledger)
    found.begin(ENTRY)
    found.begin({**ENTRY, "id": "act_2"})
    assert (found.end("act_2"), found.end(ENTRY["id"])) == ({}, NAMED)


def test_a_ledger_that_cannot_be_read_takes_no_event_away(tmp_path) -> None:
    engine = db.engine(f"sqlite:///{tmp_path}/none/none.db")
    assert Called(Ledger(engine)).end("act_1") == {}
    engine.dispose()
