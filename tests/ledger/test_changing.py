"""Changes inside a session: the rows, the entry and its signature land together, whoever signs."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import DeniedError, UsageError
from ghost_core.paths import Home
from ghost_core.settings import load
from ghost_ledger.drafts import Draft
from ghost_ledger.export.replay import session_view
from ghost_ledger.lending import AT_ONCE
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import borrowing
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.messages import Message
from support.handclock import HandClock
from support.ledger import CLOSED, differences, intent, rows
from support.owner import change, honest, owner_of, spawned


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine take its time; who tests the patience sets it."""
    monkeypatch.setattr(borrowing, "WAIT_SECONDS", 20.0)
    monkeypatch.setattr(borrowing, "HELD_SECONDS", 20.0)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@contextmanager
def opened(home: Path, clock: HandClock, **more: Any) -> Iterator[Recorder]:
    place = Home(home).ensure()
    with Recorder.open(place, f"sqlite:///{place.database}", clock=clock, **more) as recorder:
        yield recorder


@pytest.fixture
def owner(home: Path, clock: HandClock) -> Iterator[Recorder]:
    """The recorder of the process that owns the session."""
    with opened(home, clock) as recorder:
        yield recorder


@pytest.fixture
def writer(home: Path, clock: HandClock, owner: Recorder) -> Iterator[Recorder]:
    """The recorder of a process that changes memory."""
    with opened(home, clock, with_memory=True, linger_us=0) as recorder:
        yield recorder


@pytest.fixture
def sid(home: Path, owner: Recorder, clock: HandClock, tmp_path: Path) -> str:
    return spawned(owner, Home(home), load(cwd=tmp_path), clock)


PROJECT = sa.text(
    "INSERT INTO projects (id, path, name, created_at, updated_at) VALUES (:id, :id, :id, 'x', 'x')"
)


def project(connection: Connection, name: str) -> None:
    """Change a row of memory."""
    connection.execute(PROJECT, {"id": name})


def make(recorder: Recorder, sid: str, name: str) -> None:
    """Change one row and enter it, inside a session."""

    def work(connection: Connection) -> tuple[None, list[Draft]]:
        project(connection, name)
        return None, [change(sid, project=name)]

    recorder.change(work, inside=sid)


def signed_by(home: Path, sid: str) -> list[str]:
    """Return the projects that were entered in a session, oldest first."""
    query = "SELECT body FROM entries WHERE sid = ? AND type = 'memory.changed' ORDER BY seq"
    return [json.loads(body)["project"] for body in rows(home, query, sid)]


def sound(home: Path, recorder: Recorder, sid: str) -> bool:
    """Tell whether the sealed session verifies, and the whole database with it."""
    view = session_view(Ledger(recorder.engine, Home(home)), Home(home), sid)
    return bool(view["verified"]) and differences(recorder.engine) == []


def test_a_change_inside_a_session_needs_no_session_of_the_recorder(
    home: Path, owner: Recorder, writer: Recorder, sid: str, clock: HandClock
) -> None:
    before = rows(home, "SELECT count(DISTINCT sid) FROM entries")
    with honest(owner, sid, clock):
        make(writer, sid, "app")
        owner.seal(sid, CLOSED)
    assert signed_by(home, sid) == ["app"]
    assert rows(home, "SELECT count(DISTINCT sid) FROM entries") == before
    assert sound(home, writer, sid)


def test_without_a_session_the_recorder_signs(home: Path, writer: Recorder) -> None:
    def work(connection: Connection) -> tuple[None, list[Draft]]:
        return None, [
            Draft("", "memory.changed", "ent_" + "0" * 32, {"memory": "m", "change": "x"})
        ]

    writer.change(work)
    query = "SELECT sid, body FROM entries WHERE type = 'memory.changed'"
    ((signer, body),) = rows(home, query)
    assert signer == writer.system()
    assert "reason" not in json.loads(body)


def test_who_signs_for_the_session_itself_asks_nobody(
    home: Path, owner: Recorder, sid: str
) -> None:
    with Custody.acquire(sid) as custody:
        owner.attach(sid, custody.key)
        make(owner, sid, "app")
    assert signed_by(home, sid) == ["app"]


def test_more_entries_than_one_request_holds_are_signed_in_one_transaction(
    home: Path, owner: Recorder, writer: Recorder, sid: str, clock: HandClock
) -> None:
    names = [f"p{number:03}" for number in range(2 * AT_ONCE + 5)]

    def work(connection: Connection) -> tuple[None, list[Draft]]:
        for name in names:
            project(connection, name)
        return None, [change(sid, project=name) for name in names]

    with honest(owner, sid, clock):
        writer.change(work, inside=sid)
        owner.seal(sid, CLOSED)
    assert signed_by(home, sid) == names
    assert sound(home, writer, sid)


def test_owner_and_others_append_to_one_session_at_once(
    home: Path, owner: Recorder, writer: Recorder, sid: str, clock: HandClock
) -> None:
    with honest(owner, sid, clock), ThreadPoolExecutor(8) as pool:
        works: list[Callable[[], object]] = []
        for number in range(40):
            works.append(lambda number=number: make(writer, sid, f"p{number}"))  # type: ignore[misc]
            works.append(lambda: owner.append(intent(sid)))
        for done in [pool.submit(work) for work in works]:
            done.result(30)
        owner.seal(sid, CLOSED)
    assert sorted(signed_by(home, sid)) == sorted(f"p{number}" for number in range(40))
    assert rows(home, "SELECT count(*) FROM entries WHERE sid = ? AND type = 'action.intent'", sid) == [40]  # fmt: skip
    assert not rows(home, "SELECT 1 FROM entries WHERE type = 'memory.changed' AND sid <> ?", sid)
    view = session_view(Ledger(writer.engine, Home(home)), Home(home), sid)
    states = {name: axis["state"] for name, axis in view["verdict"]["axes"].items()}
    assert {states[name] for name in ("signatures", "chain", "complete", "columns")} == {"valid"}
    assert differences(writer.engine) == []


def test_the_owner_signs_while_its_own_writer_waits_for_our_lock(
    home: Path, owner: Recorder, writer: Recorder, sid: str, clock: HandClock
) -> None:
    waiting: list[Any] = []

    def work(connection: Connection) -> tuple[None, list[Draft]]:
        project(connection, "app")
        waiting.append(owner.submit(intent(sid)))
        time.sleep(0.05)  # until its writer stands before the lock that we hold
        assert not waiting[0].done()
        return None, [change(sid, project="app")]

    with honest(owner, sid, clock):
        writer.change(work, inside=sid)
        waiting[0].result(10)
        owner.seal(sid, CLOSED)
    query = "SELECT type FROM entries WHERE sid = ? ORDER BY seq"
    assert rows(home, query, sid)[1:3] == ["memory.changed", "action.intent"]


def test_a_seal_that_waits_for_our_lock_holds_the_change(
    home: Path, owner: Recorder, writer: Recorder, sid: str, clock: HandClock
) -> None:
    with honest(owner, sid, clock), ThreadPoolExecutor(1) as pool:
        sealing: list[Any] = []

        def work(connection: Connection) -> tuple[None, list[Draft]]:
            project(connection, "app")
            sealing.append(pool.submit(owner.seal, sid, CLOSED))
            time.sleep(0.05)
            return None, [change(sid, project="app")]

        writer.change(work, inside=sid)
        sealing[0].result(10)
    assert rows(home, "SELECT type FROM entries WHERE sid = ? ORDER BY seq", sid) == [
        "session.spawn",
        "memory.changed",
        "session.closed",
        "session.seal",
    ]
    assert sound(home, writer, sid)


def test_a_session_sealed_before_our_lock_is_named_by_the_recorder(
    home: Path, owner: Recorder, writer: Recorder, sid: str, clock: HandClock
) -> None:
    tries: list[int] = []

    def work(connection: Connection) -> tuple[None, list[Draft]]:
        tries.append(len(tries))
        project(connection, "app")
        return None, [change(sid, project="app")]

    with honest(owner, sid, clock), pytest.MonkeyPatch.context() as patch:
        reach = borrowing.Borrowed.reach

        def reached(self: borrowing.Borrowed) -> None:
            reach(self)
            owner.seal(sid, CLOSED)

        patch.setattr(borrowing.Borrowed, "reach", reached)
        writer.change(work, inside=sid)
    assert tries == [0, 1]  # the first time in vain
    assert (signed_by(home, sid), signed_by(home, writer.system())) == ([], ["app"])
    query = "SELECT body FROM entries WHERE type = 'memory.changed'"
    assert json.loads(rows(home, query)[0])["reason"] == "not signed by its session: it has ended"
    assert sound(home, writer, sid)


def test_what_the_work_itself_refuses_comes_through_and_nothing_stays(
    home: Path, owner: Recorder, writer: Recorder, sid: str, clock: HandClock
) -> None:
    def work(connection: Connection) -> tuple[None, list[Draft]]:
        project(connection, "app")
        raise DeniedError("no", code="project.protected")

    with honest(owner, sid, clock), pytest.raises(DeniedError) as caught:
        writer.change(work, inside=sid)
    assert caught.value.code == "project.protected"
    assert rows(home, "SELECT count(*) FROM projects WHERE id = 'app'") == [0]


async def _silent(_: Message) -> Message:
    await asyncio.Event().wait()
    return {}


def test_an_owner_that_was_silent_is_left_in_peace_and_told_of_once(
    home: Path,
    writer: Recorder,
    sid: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(borrowing, "WAIT_SECONDS", 0.1)
    with caplog.at_level(logging.WARNING, "ghost.ledger"):
        with Custody.acquire(sid), owner_of(sid, _silent):
            make(writer, sid, "one")
            monkeypatch.setattr(borrowing, "WAIT_SECONDS", 60.0)
            make(writer, sid, "two")
        make(writer, sid, "three")
        writer._changes._session(sid)._quiet = 0.0
        make(writer, sid, "four")
    assert (signed_by(home, writer.system()), signed_by(home, sid)) == (
        ["one", "two", "three"],
        ["four"],
    )
    (told,) = [record.getMessage() for record in caplog.records]
    assert sid in told
    assert "did not answer in time" in told


def test_a_batch_waits_for_a_silent_owner_once(
    home: Path, writer: Recorder, sid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(borrowing, "HELD_SECONDS", 0.2)
    asked: list[Message] = []

    async def willing_then_silent(request: Message) -> Message:
        if "entries" not in request:
            return {"signatures": []}
        asked.append(request)
        return await _silent(request)

    together = threading.Barrier(6)
    reach = borrowing.Borrowed.reach

    def reached(self: borrowing.Borrowed) -> None:
        reach(self)
        together.wait(5)

    monkeypatch.setattr(borrowing.Borrowed, "reach", reached)
    writer.system()
    with (
        Custody.acquire(sid),
        owner_of(sid, willing_then_silent),
        ThreadPoolExecutor(6) as pool,
    ):
        done = [pool.submit(make, writer, sid, f"p{number}") for number in range(6)]
        for each in done:
            each.result(20)
    assert len(asked) == 1
    assert len(signed_by(home, writer.system())) == 6


def test_an_owner_of_another_version_is_no_obstacle(home: Path, writer: Recorder, sid: str) -> None:
    async def older(_: Message) -> Message:
        raise UsageError("control request 'sign': unknown", code="control.unknown")

    with Custody.acquire(sid), owner_of(sid, older):
        make(writer, sid, "app")
    assert signed_by(home, writer.system()) == ["app"]
