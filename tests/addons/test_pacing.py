"""What takes long goes on by turns; over the wire: `tests/attacks/test_long_turns.py`."""

from __future__ import annotations

import asyncio
import time

from mitmproxy.connection import Client
from mitmproxy.proxy import events

from ghost_addons import pacing
from ghost_addons.pacing import SLICE_BYTES, TURN_SECONDS, Pace


def test_who_was_slow_is_slow_for_a_while() -> None:
    pace = Pace()
    pace.took(TURN_SECONDS / 2)
    assert not pace.slow
    pace.took(TURN_SECONDS * 2)
    assert pace.slow
    pace.took(TURN_SECONDS / 2)
    assert pace.slow


def test_of_a_session_one_has_its_turn_in_each_round_of_the_loop() -> None:
    async def play() -> tuple[list[int], int]:
        pace, rounds, seen = Pace(), 0, list[int]()

        async def work() -> None:
            await pace.turn()
            seen.append(rounds)

        waiting = [asyncio.create_task(work()) for _ in range(5)]
        while not all(each.done() for each in waiting):
            rounds += 1
            await asyncio.sleep(0)
        return seen, rounds

    seen, rounds = asyncio.run(play())
    assert len(set(seen)) == len(seen) == 5
    assert rounds >= 5


def test_slices_are_all_of_it_in_order() -> None:
    client = Client(
        peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), timestamp_start=time.time()
    )
    data = bytes(range(256)) * (SLICE_BYTES // 100)
    found = list(pacing.slices(events.DataReceived(client, data)))
    assert b"".join(each.data for each in found) == data
    assert max(len(each.data) for each in found) == SLICE_BYTES
    assert {each.connection for each in found} == {client}


def test_a_connection_has_the_pace_of_its_session_until_it_is_forgotten() -> None:
    pace = Pace()
    pacing.belongs("a connection", pace)
    assert pacing.of("a connection") is pace
    pacing.forget("a connection")
    assert pacing.of("a connection") is None
