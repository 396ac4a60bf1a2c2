"""The writer thread: batches, failures, the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError, NotFoundError, UnavailableError
from ghost_ledger.recorder import Recorder
from ghost_ledger.tree import Frontier
from support.ledger import intent, open_recorder, raw, rows, script, spawned


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with open_recorder(tmp_path) as opened:
        yield opened


def test_calls_that_wait_share_one_commit(tmp_path: Path, recorder: Recorder):
    owned = spawned(recorder)
    with raw(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        first = recorder.submit(intent(owned.sid))
        waiting = [recorder.submit(intent(owned.sid)) for _ in range(20)]
        other.execute("ROLLBACK")
    stamps = [each.result(5)[0].ts for each in (first, *waiting)]
    assert len(set(stamps)) <= 2


def test_where_several_call_a_linger_collects_calls_of_a_while(tmp_path: Path):
    with open_recorder(tmp_path, linger_us=200_000) as recorder:
        owned = spawned(recorder)
        with raw(tmp_path) as other:
            other.execute("BEGIN IMMEDIATE")
            first, _ = (recorder.submit(intent(owned.sid)) for _ in range(2))
            other.execute("ROLLBACK")
        first.result(5)
        calls = [recorder.submit(intent(owned.sid)) for _ in range(10)]
        assert len({each.result(5)[0].ts for each in calls}) == 1


def test_coroutines_wait_for_their_entries(recorder: Recorder):
    owned = spawned(recorder)

    async def enter() -> list[int]:
        calls = [recorder.enter(intent(owned.sid)) for _ in range(3)]
        return [(await call)[0].seq for call in calls]

    assert asyncio.run(enter()) == [1, 2, 3]


def test_a_coroutine_gets_the_error_of_its_own_call(recorder: Recorder):
    owned = spawned(recorder)

    async def enter() -> list[object]:
        calls = [recorder.enter(intent(sid)) for sid in (owned.sid, "gh_" + "0" * 32)]
        return await asyncio.gather(*calls, return_exceptions=True)

    right, wrong = asyncio.run(enter())
    assert isinstance(right, tuple)
    assert isinstance(wrong, NotFoundError)


def test_a_cancelled_coroutine_does_not_disturb_the_others(recorder: Recorder):
    owned = spawned(recorder)

    async def enter() -> int:
        first, second = (recorder.enter(intent(owned.sid)) for _ in range(2))
        first.cancel()
        return len(await second)

    assert asyncio.run(enter()) == 1


@pytest.mark.parametrize("change", ["size = size - 1", "frontier = X", "last_ts = 0, vkey = 'x'"])
def test_a_log_that_is_replaced_while_open_is_refused(tmp_path: Path, change: str):
    recorder = open_recorder(tmp_path)
    owned = spawned(recorder)
    size = recorder.head[0]
    wrong = Frontier(size, (b"\x01" * 32,) * size.bit_count()).encode().hex()
    script(tmp_path, f"UPDATE log_head SET {change.replace('X', f"x'{wrong}'")}")
    with pytest.raises(IntegrityError) as caught:
        recorder.append(intent(owned.sid))
    with pytest.raises(IntegrityError):
        recorder.close()
    assert caught.value.code in {"ledger.rollback", "ledger.head"}


def test_every_call_of_a_failed_batch_fails(tmp_path: Path):
    with open_recorder(tmp_path, busy_seconds=0.2) as recorder:
        owned = spawned(recorder)
        with raw(tmp_path) as other:
            other.execute("BEGIN IMMEDIATE")
            calls = [recorder.submit(intent(owned.sid)) for _ in range(5)]
            codes = {getattr(call.exception(5), "code", None) for call in calls}
        assert codes == {"database.locked"}
    assert rows(tmp_path, "SELECT count(*) FROM entries WHERE type = 'action.intent'") == [0]


def test_a_cancelled_call_is_never_written(tmp_path: Path, recorder: Recorder):
    owned = spawned(recorder)
    with raw(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        first = recorder.submit(intent(owned.sid))
        second = recorder.submit(intent(owned.sid))
        cancelled = second.cancel()
        other.execute("ROLLBACK")
    first.result(5)
    written = rows(tmp_path, "SELECT count(*) FROM entries WHERE type = 'action.intent'")[0]
    assert written == (1 if cancelled else 2)


def test_an_unexpected_error_reaches_its_caller_and_the_writer_lives(recorder: Recorder):
    owned = spawned(recorder)

    def broken(_: object) -> tuple[()]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        recorder._writer.submit(broken, weight=1).result(5)
    assert recorder.append(intent(owned.sid))[0].seq == 1


def test_more_than_a_batch_of_calls_all_land(recorder: Recorder):
    owned = spawned(recorder)
    calls = [recorder.submit(intent(owned.sid)) for _ in range(600)]
    assert [call.result(5)[0].seq for call in calls] == list(range(1, 601))


def test_what_was_queued_before_the_end_is_written(tmp_path: Path):
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        calls = [recorder.submit(intent(owned.sid)) for _ in range(50)]
    assert all(call.result(0) for call in calls)


def test_submitting_while_closing_is_answered_one_way_or_the_other(tmp_path: Path):
    recorder = open_recorder(tmp_path)
    owned = spawned(recorder)
    answers: list[str] = []

    def submit() -> None:
        for _ in range(50):
            try:
                recorder.submit(intent(owned.sid)).result(5)
                answers.append("written")
            except UnavailableError as error:
                answers.append(error.code)

    thread = threading.Thread(target=submit)
    thread.start()
    recorder.close()
    thread.join(5)
    assert len(answers) == 50
    assert set(answers) <= {"written", "ledger.closed"}


def test_a_detached_session_is_unknown_to_the_writer(recorder: Recorder):
    owned = spawned(recorder)
    recorder.detach(owned.sid)
    with pytest.raises(NotFoundError):
        recorder.append(intent(owned.sid))
