"""Reading: sessions, actions, entries, payloads, the head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import IntegrityError, NotFoundError
from ghost_core.paths import Home
from ghost_ledger import bundle, commitment, heads, tree
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.verify import verify_bundle
from support.handclock import HandClock
from support.ledger import CLOSED, Owned, denied, edit, intent, open_recorder, spawned, url_of


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with open_recorder(tmp_path) as opened:
        yield opened


@pytest.fixture
def owned(recorder: Recorder) -> Owned:
    return spawned(recorder, text="deploy", scopes=("stripe", "GET,POST https://a.example/*"))


@pytest.fixture
def ledger(tmp_path: Path, recorder: Recorder) -> Ledger:
    return Ledger(recorder.engine, Home(tmp_path))


def test_a_session_is_read_with_its_intent_and_scopes(ledger: Ledger, owned: Owned):
    row = ledger.session(owned.sid)
    assert row is not None
    assert (row.intent, row.status, row.vkey) == ("deploy", "live", owned.vkey)
    assert row.scopes == ["stripe", "GET,POST https://a.example/*"]
    assert row.scope == "stripe,GET%2CPOST https://a.example/*"


def test_an_unknown_session_is_none(ledger: Ledger):
    assert ledger.session("gh_" + "0" * 32) is None


def test_times_are_aware(tmp_path: Path):
    clock = HandClock()
    with open_recorder(tmp_path, clock=clock) as recorder:
        row = Ledger(recorder.engine).session(spawned(recorder).sid)
    assert row is not None
    assert row.spawned_at == datetime.fromtimestamp(clock.now // 1_000_000, UTC)


def test_sessions_of_recorder_runs_are_listed_only_on_request(ledger: Ledger, owned: Owned):
    assert [row.session_id for row in ledger.sessions()] == [owned.sid]
    assert len(ledger.sessions(system=True)) == 2


def test_a_sealed_session_is_not_open(ledger: Ledger, owned: Owned):
    assert [row.session_id for row in ledger.open_sessions()] == [owned.sid]
    owned.recorder.seal(owned.sid, CLOSED)
    assert ledger.open_sessions() == []


def test_actions_come_in_log_order_with_refusals(ledger: Ledger, owned: Owned):
    owned.act()
    owned.recorder.append(denied(owned.sid))
    owned.recorder.append(intent(owned.sid))
    assert [row.status for row in ledger.actions(owned.sid)] == ["executed", "denied", "pending"]


def test_an_action_is_found_by_its_id(ledger: Ledger, owned: Owned):
    (receipt,) = owned.recorder.append(intent(owned.sid))
    (row,) = ledger.actions(owned.sid)
    assert ledger.action(row.action_id) == row
    assert row.intent_idx == receipt.idx
    assert ledger.action("act_" + "0" * 32) is None


def test_failures_are_counted_by_their_error_over_sessions(ledger: Ledger, owned: Owned):
    assert ledger.failures([owned.sid], "scope.none") == 0
    owned.act()
    owned.recorder.append(denied(owned.sid))
    equal = denied(owned.sid)
    owned.recorder.append(replace(equal, fields={**equal.fields, "count": 3}))
    assert ledger.failures(["gh_other", owned.sid], "scope.none") == 4
    assert ledger.failures([owned.sid], "credential.leaked") == 0
    assert ledger.failures([], "scope.none") == 0


def test_credentials_tell_birth_and_end_of_the_session_key(ledger: Ledger, owned: Owned):
    owned.recorder.seal(owned.sid, CLOSED)
    assert [row.reason for row in ledger.credentials(owned.sid)] == ["spawn", "evaporate"]


def test_notes_are_the_very_bytes_that_were_hashed(ledger: Ledger, owned: Owned):
    owned.act()
    notes, entries = ledger.notes(owned.sid), ledger.entries(owned.sid)
    assert [tree.leaf_hash(note) for note in notes] == [item.leaf_hash for item in entries]


def test_a_payload_is_read_in_the_clear(ledger: Ledger, owned: Owned):
    (receipt,) = owned.recorder.append(intent(owned.sid, data=b"canary"))
    assert ledger.payload(owned.sid, receipt.idx, "params") == b"canary"
    assert ledger.payload(owned.sid, receipt.idx, "response") is None


def test_a_disclosure_proves_its_commitment(ledger: Ledger, owned: Owned):
    draft = intent(owned.sid, data=b"canary")
    owned.recorder.append(draft)
    last = ledger.disclosures(owned.sid)[-1]
    assert (last.seq, last.field, last.data) == (1, "params", b"canary")
    committed = str(draft.fields["params"])
    assert commitment.check(last.field, last.salt, last.data, committed)


def test_a_truncated_payload_is_no_disclosure(ledger: Ledger, owned: Owned):
    draft = intent(owned.sid, data=b"canary")
    part = replace(draft.payloads[0], data=b"can", truncated=True)
    owned.recorder.append(replace(draft, payloads=(part,)))
    assert [item.field for item in ledger.disclosures(owned.sid)] == ["intent"]
    assert ledger.payloads(owned.sid)[-1].size == 6


def test_without_the_key_of_the_session_its_payloads_are_gone(
    tmp_path: Path, ledger: Ledger, owned: Owned
):
    owned.act()
    edit(tmp_path, "DELETE FROM payload_keys")
    assert {item.data for item in ledger.payloads(owned.sid)} == {None}


def test_the_head_is_what_the_recorder_committed(ledger: Ledger, owned: Owned):
    head = ledger.head()
    assert head is not None
    assert (head.size, head.root) == owned.recorder.head
    assert head.vkey == owned.recorder.log_vkey


def test_an_empty_database_has_no_head(tmp_path: Path):
    engine = db.engine(f"sqlite:///{tmp_path / 'empty.db'}")
    db.migrate(engine)
    assert Ledger(engine).head() is None
    engine.dispose()


def test_the_head_of_a_bundle_is_remembered_before_it_leaves(
    tmp_path: Path, ledger: Ledger, owned: Owned
):
    ledger.bundle(owned.sid)
    assert heads.recall(Home(tmp_path), owned.recorder.origin) == owned.recorder.head


def test_an_open_session_has_a_bundle_that_is_incomplete(ledger: Ledger, owned: Owned):
    data = bundle.encode(ledger.bundle(owned.sid))
    assert verify_bundle(data, [owned.vkey]).verdict == "incomplete"


def test_a_long_log_still_proves_its_first_session(ledger: Ledger, owned: Owned):
    owned.act()
    owned.recorder.seal(owned.sid, CLOSED)
    other = spawned(owned.recorder)
    owned.recorder.append(*[intent(other.sid) for _ in range(600)])
    data = bundle.encode(ledger.bundle(owned.sid))
    assert verify_bundle(data, [owned.recorder.log_vkey]).verdict == "valid"


def test_no_head_is_signed_behind_the_memory(tmp_path: Path, ledger: Ledger, owned: Owned):
    size, _ = owned.recorder.head
    heads.remember(Home(tmp_path), owned.recorder.origin, size + 1, b"\x01" * 32)
    with pytest.raises(IntegrityError) as caught:
        ledger.bundle(owned.sid)
    assert caught.value.code == "ledger.rollback"


def test_an_unknown_session_has_no_bundle(ledger: Ledger):
    with pytest.raises(NotFoundError) as caught:
        ledger.bundle("gh_" + "0" * 32)
    assert caught.value.code == "session.unknown"


def test_a_look_remembers_no_head(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        recorder.seal(owned.sid, CLOSED)
    engine = db.engine(url_of(tmp_path))
    for head in (tmp_path / "heads").iterdir():
        head.unlink()
    Ledger(engine, Home(tmp_path)).bundle(owned.sid, leaves=False)
    assert list((tmp_path / "heads").iterdir()) == []
    Ledger(engine, Home(tmp_path)).bundle(owned.sid)
    assert list((tmp_path / "heads").iterdir()) != []
    engine.dispose()
