from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from ghost_core import db
from ghost_core.errors import DeniedError, GhostError, UsageError
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger import chain
from ghost_ledger.chain import ChainEnd, Signer
from ghost_ledger.lending import Lent, Part, Run, sign_run
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import signing as signing_module
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.signing import SLACK_US, Signing
from support.handclock import HandClock
from support.ledger import CLOSED
from support.owner import change, spawned


@pytest.fixture
def sid(recorder: Recorder, home: Home, settings: Settings, clock: HandClock) -> str:
    return spawned(recorder, home, settings, clock)


@pytest.fixture
def custody(sid: str, recorder: Recorder) -> Iterator[Custody]:
    with Custody.acquire(sid) as held:
        recorder.attach(sid, held.key)
        yield held


@pytest.fixture
def signing(recorder: Recorder, sid: str, custody: Custody, clock: HandClock) -> Signing:
    return Signing(recorder.engine, recorder.origin, sid, custody.key, clock)


def run(recorder: Recorder, sid: str, clock: HandClock, *fields: dict[str, Any]) -> Run:
    """Return a run that continues the session where it is committed."""
    with db.read(recorder.engine) as connection:
        last = connection.exec_driver_sql(
            "SELECT seq, leaf_hash FROM entries WHERE sid = ? ORDER BY seq DESC", (sid,)
        ).first()
    assert last is not None
    drafts = [change(sid, **each) for each in fields or ({},)]
    parts = [Part(each.type, each.id, each.fields) for each in drafts]
    return Run(ChainEnd(last.seq + 1, last.leaf_hash.hex()), clock.now_us(), parts)


def refused(signing: Signing, run: Run) -> str:
    with pytest.raises(GhostError) as caught:
        signing.answer({"op": "sign", **run.message()})
    return caught.value.code


def test_the_signatures_are_those_of_the_entries(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing, custody: Custody
) -> None:
    asked = run(recorder, sid, clock, {}, {"project": "app"})
    answer: Any = signing.answer({"op": "sign", **asked.message()})
    lent = Lent(custody.key.public)
    lent.give(bytes.fromhex(each) for each in answer["signatures"])
    signatures, _ = sign_run(Signer.of(lent, recorder.origin, sid), recorder.origin, sid, asked)
    assert len(signatures) == 2


def test_a_question_without_entries_is_answered_without_a_signature(signing: Signing) -> None:
    assert signing.answer({"op": "sign"}) == {"signatures": []}


def test_what_is_no_request_is_refused(signing: Signing) -> None:
    with pytest.raises(UsageError):
        signing.answer({"op": "sign", "entries": []})


@pytest.mark.parametrize(
    "type_", ["action.intent", "session.closed", "session.seal", "credential.issued", "moon.risen"]
)
def test_nothing_but_changes_of_memory_is_signed(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing, type_: str
) -> None:
    asked = run(recorder, sid, clock)
    other = dataclasses.replace(asked, parts=[dataclasses.replace(asked.parts[0], type=type_)])
    assert refused(signing, other) == "signing.type"


def test_a_change_must_name_this_session(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing
) -> None:
    assert refused(signing, run(recorder, sid, clock, {"session": "gh_" + "f" * 32})) == (
        "signing.session"
    )


def test_only_the_end_of_the_committed_chain_is_a_place(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing
) -> None:
    asked = run(recorder, sid, clock)
    for end in (ChainEnd(7, asked.end.prev), ChainEnd(1, "0" * 64), ChainEnd()):
        assert refused(signing, dataclasses.replace(asked, end=end)) == "signing.place"
    recorder.append(dataclasses.replace(change(sid), sid=sid))
    assert refused(signing, asked) == "signing.place"
    assert signing.answer(run(recorder, sid, clock).message())


def test_what_was_signed_and_is_not_committed_yet_may_be_continued_or_signed_again(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing, custody: Custody
) -> None:
    first = run(recorder, sid, clock)
    signer = Signer.of(custody.key, recorder.origin, sid)
    _, end = sign_run(signer, recorder.origin, sid, first)
    second = dataclasses.replace(first, end=end)
    assert refused(signing, second) == "signing.place"
    assert signing.answer(first.message()) == signing.answer(first.message())
    assert signing.answer(second.message())
    recorder.append(dataclasses.replace(change(sid), sid=sid))
    assert refused(signing, second) == "signing.place"


def test_what_is_remembered_is_bounded(
    recorder: Recorder,
    sid: str,
    clock: HandClock,
    signing: Signing,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signing_module, "_ENDS", 4)
    for number in range(9):
        signing.answer(run(recorder, sid, clock, {"reason": str(number)}).message())
    assert len(signing._signed) == 4


@pytest.mark.parametrize("shift", [-SLACK_US - 1_000_000, SLACK_US + 1_000_000])
def test_the_time_of_an_entry_is_now(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing, shift: int
) -> None:
    clock.pass_seconds(60)
    asked = run(recorder, sid, clock)
    assert refused(signing, dataclasses.replace(asked, ts=asked.ts + shift)) == "signing.time"
    assert signing.answer(asked.message())


def test_where_the_clock_went_back_the_time_is_that_of_the_last_entry(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing
) -> None:
    with db.read(recorder.engine) as connection:
        state = chain.load_state(connection)
    assert state is not None
    clock.now -= 3_600_000_000
    asked = run(recorder, sid, clock)
    assert refused(signing, asked) == "signing.time"
    assert signing.answer(dataclasses.replace(asked, ts=state.last_ts).message())


def test_nothing_is_signed_after_the_seal(
    recorder: Recorder, sid: str, clock: HandClock, signing: Signing
) -> None:
    asked = run(recorder, sid, clock)
    recorder.seal(sid, CLOSED)
    with pytest.raises(DeniedError) as caught:
        signing.answer(asked.message())
    assert caught.value.code == "session.sealed"
