"""Refusals are entered at once, floods of equal ones as one entry with a count."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from ghost_addons.record import Attempt, Keeping
from ghost_addons.refusal import Refusal
from ghost_addons.refusals import Refusals
from ghost_core import db
from ghost_core.errors import UnavailableError
from ghost_core.paths import home
from ghost_ledger import entry
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from support.live import until

ATTEMPT = Attempt("", "DELETE", "api.test", 443)
REFUSAL = Refusal(403, "rule.denied", "no", "rule", "settings:1")
KEEPING = Keeping("none", 0)
LONG, SHORT = 60.0, 0.01
WHILE = 0.3  # in which three are entered on a busy machine too


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """A ledger that gives up on a busy database at once."""
    where = home().ensure()
    with Recorder.open(where, f"sqlite:///{where.root}/ghost.db", busy_seconds=0.05) as recorder:
        yield recorder


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


def denials(recorder: Recorder) -> list[dict[str, Any]]:
    """The fields of all refusals in the system session."""
    stored = Ledger(recorder.engine).entries(recorder.system())
    parsed = [entry.parse(each.body) for each in stored]
    return [dict(each.fields) for each in parsed if each.type == "action.denied"]


def test_a_flood_becomes_one_entry_and_a_count(recorder: Recorder) -> None:
    async def flood() -> None:
        refusals = Refusals(recorder, window_seconds=LONG)
        receipts = [await refusals.enter(ATTEMPT, REFUSAL, KEEPING) for _ in range(5)]
        assert [each is not None for each in receipts] == [True, False, False, False, False]
        await refusals.flush()

        assert refusals.last is not None
        assert (refusals.last.host, refusals.last.refusal) == ("api.test", REFUSAL)

    run(flood)
    first, rest = denials(recorder)
    assert "count" not in first
    assert rest["count"] == 4


def test_a_single_refusal_leaves_a_single_entry(recorder: Recorder) -> None:
    async def once() -> None:
        refusals = Refusals(recorder, window_seconds=SHORT)
        await refusals.enter(ATTEMPT, REFUSAL, KEEPING)
        await asyncio.to_thread(until, lambda: not refusals._repeats)  # the window has closed
        await refusals.flush()

    run(once)
    assert len(denials(recorder)) == 1


@pytest.mark.parametrize(
    "other",
    [
        (replace(ATTEMPT, host="b.test"), REFUSAL),
        (replace(ATTEMPT, port=8443), REFUSAL),
        (replace(ATTEMPT, method="PUT"), REFUSAL),
        (ATTEMPT, replace(REFUSAL, code="scope.host")),
        (ATTEMPT, replace(REFUSAL, rule="settings:2")),
        (replace(ATTEMPT, agent_head=b"DELETE /?all=1 HTTP/1.1\r\n\r\n"), REFUSAL),
        (ATTEMPT, replace(REFUSAL, message="no, for another reason")),
        (replace(ATTEMPT, alone=True), REFUSAL),
    ],
)
def test_what_differs_is_entered_for_itself(
    other: tuple[Attempt, Refusal], recorder: Recorder
) -> None:
    async def two() -> None:
        refusals = Refusals(recorder, window_seconds=LONG)
        await refusals.enter(ATTEMPT, REFUSAL, KEEPING)
        assert await refusals.enter(*other, KEEPING) is not None
        await refusals.flush()

    run(two)
    assert len(denials(recorder)) == 2


def test_the_count_is_entered_when_the_window_closes(recorder: Recorder) -> None:
    async def wait() -> None:
        refusals = Refusals(recorder, window_seconds=WHILE)
        for _ in range(3):
            await refusals.enter(ATTEMPT, REFUSAL, KEEPING)
        await asyncio.to_thread(until, lambda: len(denials(recorder)) == 2)

    run(wait)
    assert [each.get("count") for each in denials(recorder)] == [None, 2]


def test_a_flush_for_one_session_leaves_the_others_counting(recorder: Recorder) -> None:
    async def flush() -> None:
        refusals = Refusals(recorder, window_seconds=LONG)
        for _ in range(2):
            await refusals.enter(ATTEMPT, REFUSAL, KEEPING)
        await refusals.flush("gh_other")
        assert len(denials(recorder)) == 1
        await refusals.flush(recorder.system())

    run(flush)
    assert len(denials(recorder)) == 2


def test_what_cannot_be_entered_is_an_error_of_the_first_but_not_of_the_count(
    recorder: Recorder,
) -> None:
    other = db.engine(str(recorder.engine.url))

    async def locked() -> None:
        refusals = Refusals(recorder, window_seconds=LONG)
        for _ in range(2):
            await refusals.enter(ATTEMPT, REFUSAL, KEEPING)
        with db.write(other):
            with pytest.raises(UnavailableError) as caught:
                await refusals.enter(replace(ATTEMPT, host="b.test"), REFUSAL, KEEPING)
            assert caught.value.code == "database.locked"
            await refusals.flush()

    run(locked)
    other.dispose()
    assert len(denials(recorder)) == 1
