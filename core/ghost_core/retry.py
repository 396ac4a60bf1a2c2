"""The one retry: exponential back-off with jitter, around tenacity."""

from __future__ import annotations

import threading
from collections.abc import Callable

import tenacity


def retrying[T](
    call: Callable[[], T],
    *,
    attempts: int,
    when: Callable[[T], bool] = lambda _: False,
    on: tuple[type[Exception], ...] = (),
    first_seconds: float = 0.5,
    max_seconds: float = 30.0,
    wait: Callable[[T], float | None] = lambda _: None,
    stop: threading.Event | None = None,
) -> T:
    """Call until it neither raises one of `on` nor returns a value for which `when` holds.

    Waits `first_seconds` × 2ⁿ with full jitter, or as many seconds as `wait` says of the last value.
    After the last attempt the value or the error stands. Once `stop` is set, no wait goes on and nothing
    is called again.
    """
    ended = stop or threading.Event()
    condition = tenacity.retry_if_exception_type(on) if on else tenacity.retry_never
    backoff = tenacity.wait_random_exponential(multiplier=first_seconds, max=max_seconds)
    last: list[tenacity.Future] = []

    def pause(state: tenacity.RetryCallState) -> float:
        told = None
        last[:] = [] if state.outcome is None else [state.outcome]
        if state.outcome is not None and not state.outcome.failed:
            told = wait(state.outcome.result())
        return backoff(state) if told is None else told

    def sleep(seconds: float) -> None:
        if ended.wait(seconds):
            raise _StoppedError

    retrier = tenacity.Retrying(
        sleep=sleep,
        stop=tenacity.stop_after_attempt(attempts),
        wait=pause,
        retry=tenacity.retry_any(condition, tenacity.retry_if_result(when)),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        reraise=True,
    )
    try:
        return retrier(call)
    except _StoppedError:
        value: T = last[0].result()  # raises, where the last call did
        return value


class _StoppedError(Exception):
    """The wait between two calls was ended."""
