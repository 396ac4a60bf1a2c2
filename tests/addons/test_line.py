from __future__ import annotations

import threading
import time

from structlog.testing import capture_logs

from ghost_addons.line import PAUSE_SECONDS, Line
from ghost_addons.notice import Notice

WAIT_SECONDS = 20.0


def notice(number: int, name: str = "action.executed") -> Notice:
    return Notice(name, f"act_{number}", "", b"")


class Receiver:
    """Takes events when it is let; `taken` holds their ids and when."""

    def __init__(self, *, limit: int = 1000) -> None:
        self.open = threading.Event()
        self.began = threading.Event()
        self.taken: list[tuple[str, float]] = []
        self.lost = 0
        self.line = Line("test", self.handle, self.lose, limit=limit)

    def handle(self, notice: Notice, stop: threading.Event) -> None:
        self.began.set()
        while not self.open.wait(0.01) and not stop.is_set():
            pass
        if notice.id == "act_13":
            raise RuntimeError("unlucky")
        if not stop.is_set():
            self.taken.append((notice.id, time.monotonic()))

    def lose(self, count: int) -> None:
        self.lost += count

    def close(self, seconds: float) -> None:
        self.line.finish()
        self.line.wait(time.monotonic() + seconds)
        self.line.stop()
        self.line.end(time.monotonic() + WAIT_SECONDS)


def test_events_are_handled_in_order_and_a_finished_line_runs_empty() -> None:
    receiver = Receiver()
    receiver.open.set()
    for number in range(5):
        receiver.line.put(notice(number))
    receiver.close(WAIT_SECONDS)
    assert [id_ for id_, _ in receiver.taken] == [f"act_{number}" for number in range(5)]
    assert receiver.lost == 0


def test_an_event_waits_a_moment_so_that_the_answer_goes_first() -> None:
    receiver = Receiver()
    receiver.open.set()
    came = time.monotonic()
    receiver.line.put(notice(1))
    receiver.close(WAIT_SECONDS)
    assert receiver.taken[0][1] - came >= PAUSE_SECONDS


def test_refusals_make_room_for_other_events_and_not_the_other_way_round() -> None:
    receiver = Receiver(limit=3)
    receiver.line.put(notice(0))
    assert receiver.began.wait(WAIT_SECONDS)
    for number in range(1, 6):
        receiver.line.put(notice(number, "action.denied"))
    for number in range(6, 10):
        receiver.line.put(notice(number))
    receiver.line.put(notice(10, "action.denied"))
    receiver.open.set()
    receiver.close(WAIT_SECONDS)
    assert [id_ for id_, _ in receiver.taken] == ["act_0", "act_6", "act_7", "act_8"]
    assert receiver.lost == 7


def test_calls_make_room_for_what_no_agent_can_cause() -> None:
    receiver = Receiver(limit=3)
    receiver.line.put(notice(0))
    assert receiver.began.wait(WAIT_SECONDS)
    names = ["action.failed", "action.denied", "action.executed", "session.quarantined"]
    names += ["action.executed", "credential.revoked", "session.sealed", "session.expired"]
    for number, name in enumerate(names, start=1):
        receiver.line.put(notice(number, name))
    receiver.open.set()
    receiver.close(WAIT_SECONDS)
    assert [id_ for id_, _ in receiver.taken] == ["act_0", "act_4", "act_6", "act_7"]
    assert receiver.lost == 5


def test_a_full_line_takes_nothing_more_and_tells_how_many_were_lost() -> None:
    receiver = Receiver(limit=2)
    receiver.line.put(notice(0))
    assert receiver.began.wait(WAIT_SECONDS)
    for number in range(1, 6):
        receiver.line.put(notice(number))
    receiver.open.set()
    receiver.close(WAIT_SECONDS)
    assert [id_ for id_, _ in receiver.taken] == ["act_0", "act_1", "act_2"]
    assert receiver.lost == 3


def test_what_is_left_at_the_end_is_given_up_and_counted() -> None:
    receiver = Receiver()
    for number in range(3):
        receiver.line.put(notice(number))
    assert receiver.began.wait(WAIT_SECONDS)
    receiver.close(0)
    assert receiver.taken == []
    assert receiver.lost == 2  # the third is in the hands of its handler, which was told to stop


def test_one_that_fails_does_not_stop_the_others() -> None:
    receiver = Receiver()
    receiver.open.set()
    with capture_logs() as logged:
        for number in (13, 14):
            receiver.line.put(notice(number))
        receiver.close(WAIT_SECONDS)
    assert [id_ for id_, _ in receiver.taken] == ["act_14"]
    assert [each["event"] for each in logged] == ["line.failed"]
    assert "unlucky" not in str(logged)


def test_after_its_end_a_line_takes_nothing() -> None:
    receiver = Receiver()
    receiver.close(WAIT_SECONDS)
    receiver.line.put(notice(1))
    receiver.line.end(time.monotonic())
    assert (receiver.taken, receiver.lost) == ([], 1)
