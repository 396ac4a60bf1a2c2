"""Who signs for a session that we do not own: its owner, nobody's key, or nobody at all."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.errors import DeniedError, GhostError, UnavailableError
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_ledger.lending import UnsignedError
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import borrowing
from ghost_ledger.session.borrowing import Borrowed
from ghost_ledger.session.control_server import Handler
from ghost_ledger.session.custody import Custody, is_owned
from ghost_ledger.session.messages import Message
from support.handclock import HandClock
from support.ledger import CLOSED, rows
from support.owner import change, honest, owner_of, spawned


@pytest.fixture
def sid(recorder: Recorder, home: Home, settings: Settings, clock: HandClock) -> str:
    return spawned(recorder, home, settings, clock)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine take its time; who tests the patience sets it."""
    monkeypatch.setattr(borrowing, "WAIT_SECONDS", 20.0)
    monkeypatch.setattr(borrowing, "HELD_SECONDS", 20.0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(borrowing, "WAIT_SECONDS", 0.15)
    monkeypatch.setattr(borrowing, "HELD_SECONDS", 0.15)


def reason(recorder: Recorder, sid: str, clock: HandClock) -> str:
    """Return why nobody would sign."""
    with pytest.raises(UnsignedError) as caught:
        lender(recorder, sid, clock).reach()
    return caught.value.message


def lender(recorder: Recorder, sid: str, clock: HandClock) -> Borrowed:
    return Borrowed(recorder.engine, recorder.origin, sid, clock)


def append(recorder: Recorder, lender: Borrowed, sid: str) -> str:
    """Append a change under the write lock; return the session that signed it."""
    draft = replace(change(sid), sid=sid)
    work = recorder._writer.submit(lambda batch: batch.append_lent([draft], lender), weight=1)
    (receipt,) = work.result()
    return receipt.sid


def entered(recorder: Recorder, home: Home, sid: str, **fields: str) -> tuple[str, str]:
    """Change something inside a session; return the session that signed it, and the reason given."""
    draft = change(sid, **fields)
    recorder.change(lambda _: (None, [draft]), inside=sid)
    query = "SELECT sid, json_extract(CAST(body AS TEXT), '$.reason') FROM entries WHERE id = ?"
    ((signer, why),) = rows(home.root, query, draft.id)
    return signer, why or ""


def test_an_owner_signs(recorder: Recorder, home: Home, sid: str, clock: HandClock) -> None:
    with (
        Recorder.open(home, f"sqlite:///{home.database}", clock=clock) as other,
        honest(other, sid, clock),
    ):
        assert entered(recorder, home, sid) == (sid, "")
        assert entered(recorder, home, sid, reason="into app") == (sid, "into app")
        assert is_owned(sid)


def test_without_an_owner_the_key_is_taken_for_the_moment(
    recorder: Recorder, home: Home, sid: str
) -> None:
    assert entered(recorder, home, sid) == (sid, "")
    assert not is_owned(sid)


def test_who_becomes_the_owner_meanwhile_signs(
    recorder: Recorder, home: Home, sid: str, clock: HandClock
) -> None:
    known = lender(recorder, sid, clock)
    known.reach()
    assert known._channel is None
    with (
        Recorder.open(home, f"sqlite:///{home.database}", clock=clock) as other,
        honest(other, sid, clock),
    ):
        assert append(recorder, known, sid) == sid
        assert known._channel is not None
        known.close()


def test_an_owner_that_dies_in_between_leaves_the_key_for_us(
    recorder: Recorder, home: Home, sid: str, clock: HandClock
) -> None:
    known = lender(recorder, sid, clock)
    with (
        Recorder.open(home, f"sqlite:///{home.database}", clock=clock) as other,
        honest(other, sid, clock),
    ):
        known.reach()
        assert known._channel is not None
        assert append(recorder, known, sid) == sid
    assert append(recorder, known, sid) == sid
    assert not is_owned(sid)


def test_an_owner_that_was_good_a_moment_ago_is_not_asked_before_the_lock(
    recorder: Recorder, sid: str, clock: HandClock
) -> None:
    asked: list[Message] = []

    async def willing(request: Message) -> Message:
        asked.append(request)
        return {"signatures": []}

    known = lender(recorder, sid, clock)
    with Custody.acquire(sid), owner_of(sid, willing):
        for _ in range(3):
            known.reach()
        assert asked == [{"op": "sign"}]
        known._heard = 0.0
        known.reach()
        assert len(asked) == 2
        known.close()


def test_nobody_is_asked_about_a_session_that_has_ended(
    recorder: Recorder, sid: str, clock: HandClock
) -> None:
    known = lender(recorder, sid, clock)
    known.reach()
    clock.pass_seconds(301)
    for _ in range(2):
        with pytest.raises(UnsignedError) as caught:
            known.reach()
        assert caught.value.message == "it has ended"
    assert known._quiet == float("inf")


def test_a_session_that_is_over_or_none_signs_nothing(
    recorder: Recorder, home: Home, settings: Settings, sid: str, clock: HandClock
) -> None:
    assert reason(recorder, ids.session_id(), clock) == "this ledger does not know it"
    assert reason(recorder, recorder.system(), clock) == "this ledger does not know it"
    with Custody.acquire(sid) as custody:
        recorder.attach(sid, custody.key)
        recorder.seal(sid, CLOSED)
    assert reason(recorder, sid, clock) == "it has ended"
    short = spawned(recorder, home, settings, clock, ttl_seconds=10)
    clock.pass_seconds(10)
    assert reason(recorder, short, clock) == "it has ended"


def test_a_key_that_is_gone_or_another_one_signs_nothing(
    recorder: Recorder, home: Home, settings: Settings, clock: HandClock, root: Path
) -> None:
    gone, wrong = (spawned(recorder, home, settings, clock) for _ in range(2))
    (root / gone / "ed25519_key").unlink()
    signer, why = entered(recorder, home, gone)
    assert signer == recorder.system()
    assert why == "not signed by its session: nobody owns it, and its key is not here"
    (root / wrong / "ed25519_key").write_text(("ab" * 32 + "\n") * 2, "ascii")
    signer, why = entered(recorder, home, wrong)
    assert (signer, why) == (
        recorder.system(),
        "not signed by its session: its owner's signature does not fit",
    )


async def silent(_: Message) -> Message:
    await asyncio.Event().wait()
    return {}


async def silent_when_it_counts(request: Message) -> Message:
    return await silent(request) if "entries" in request else {"signatures": []}


async def refusing(_: Message) -> Message:
    raise DeniedError("sk_live_secret", code="some.code")


async def leaving(request: Message) -> Message:
    if "entries" in request:
        raise UnavailableError("gone", code="session.owner_lost")
    return {"signatures": []}


def saying(*signatures: object) -> Handler:
    async def answer(_: Message) -> Message:
        return {"signatures": list(signatures)}

    return answer


FITS_NOT = "its owner's signature does not fit"


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (silent, "its owner did not answer in time"),
        (silent_when_it_counts, "its owner did not answer in time"),
        (refusing, "its owner refused with some.code"),
        (leaving, "its owner did not answer in time"),
        (saying("00" * 64), FITS_NOT),
        (saying(), FITS_NOT),
        (saying("no hex"), FITS_NOT),
        (saying(None), FITS_NOT),
        (saying("00" * 64, "00" * 64), FITS_NOT),
    ],
    ids=["silent", "late", "refusing", "leaving", "zeros", "none", "text", "null", "many"],
)
@pytest.mark.usefixtures("quick")
def test_a_bad_owner_costs_a_moment_and_no_save(
    recorder: Recorder, home: Home, sid: str, handler: Handler, why: str
) -> None:
    with Custody.acquire(sid), owner_of(sid, handler):
        began = time.monotonic()
        assert entered(recorder, home, sid, reason="x" * 300) == (
            recorder.system(),
            f"not signed by its session: {why}; {'x' * 300}"[:300],
        )
        assert time.monotonic() - began < 5  # a busy machine; alone it is half a second


@pytest.mark.usefixtures("quick")
def test_an_owner_between_lock_and_socket_is_waited_for(
    recorder: Recorder, home: Home, sid: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Custody.acquire(sid):
        assert reason(recorder, sid, clock) == "its owner did not answer in time"
    monkeypatch.setattr(borrowing, "WAIT_SECONDS", 5.0)
    asked = threading.Event()
    patient = borrowing.is_owned

    def looked(sid: str, *, root: Path | None = None) -> bool:
        asked.set()
        return patient(sid, root=root)

    monkeypatch.setattr(borrowing, "is_owned", looked)
    with Recorder.open(home, f"sqlite:///{home.database}", clock=clock) as other:
        custody = Custody.acquire(sid)
        found: list[tuple[str, str]] = []
        saver = threading.Thread(target=lambda: found.append(entered(recorder, home, sid)))
        saver.start()
        assert asked.wait(5)
        custody.release()
        with honest(other, sid, clock):
            saver.join(10)
    assert found == [(sid, "")]


def test_what_the_owner_was_asked_is_asked_again_of_nobody(
    recorder: Recorder, sid: str, clock: HandClock
) -> None:
    asked: list[Message] = []

    async def no(request: Message) -> Message:
        asked.append(request)
        raise GhostError("no", code="control.unknown")

    with Custody.acquire(sid), owner_of(sid, no):
        assert reason(recorder, sid, clock) == "its owner refused with control.unknown"
    assert asked == [{"op": "sign"}]
