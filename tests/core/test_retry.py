from __future__ import annotations

import threading

import pytest

from ghost_core.retry import retrying


class Flaky:
    """Fails a number of times, then answers with how often it was called."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError("not yet")
        return self.calls


def test_it_calls_again_until_it_succeeds() -> None:
    assert retrying(Flaky(2), attempts=3, on=(ConnectionError,), first_seconds=0) == 3


def test_after_the_last_attempt_the_error_stands() -> None:
    call = Flaky(9)
    with pytest.raises(ConnectionError, match="not yet"):
        retrying(call, attempts=3, on=(ConnectionError,), first_seconds=0)
    assert call.calls == 3


def test_an_error_that_is_not_named_is_raised_at_once() -> None:
    call = Flaky(9)
    with pytest.raises(ConnectionError):
        retrying(call, attempts=3, on=(TimeoutError,), first_seconds=0)
    assert call.calls == 1


def test_after_the_last_attempt_an_unwanted_value_stands() -> None:
    call = Flaky(0)
    assert retrying(call, attempts=3, when=lambda value: value < 9, first_seconds=0) == 3


def test_a_wanted_value_is_returned_at_once() -> None:
    assert retrying(Flaky(0), attempts=3, first_seconds=0) == 1


def test_once_stopped_no_wait_goes_on_and_nothing_is_called_again() -> None:
    stop, call = threading.Event(), Flaky(0)
    timer = threading.Timer(0.05, stop.set)
    timer.start()
    assert retrying(call, attempts=9, when=lambda _: True, wait=lambda _: 60.0, stop=stop) == 1
    assert call.calls == 1
    timer.join()
