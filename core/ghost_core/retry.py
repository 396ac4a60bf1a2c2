"""The one retry: exponential back-off with jitter, around tenacity."""

from __future__ import annotations

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
) -> T:
    """Call until it neither raises one of `on` nor returns a value for which `when` holds.

    Waits `first_seconds` × 2ⁿ with full jitter. After the last attempt the value or the error stands.
    """
    condition = tenacity.retry_if_exception_type(on) if on else tenacity.retry_never
    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_random_exponential(multiplier=first_seconds, max=max_seconds),
        retry=tenacity.retry_any(condition, tenacity.retry_if_result(when)),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        reraise=True,
    )(call)
