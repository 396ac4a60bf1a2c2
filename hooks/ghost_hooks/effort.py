"""How much work it may be to judge one text: so many steps for each of its values.

A schema that holds itself is tried again at each level by several keywords, so that the work can double with
every level of a short text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ghost_hooks.params import Json

STEPS = 20_000
STEPS_FOR_EACH = 500
MOST_STEPS = 20_000_000

_left: ContextVar[list[int] | None] = ContextVar("ghost.steps", default=None)


class TooMuchError(Exception):
    """It would be more work than the text may make."""


def counted[**P, Result](keyword: Callable[P, Result]) -> Callable[P, Result]:
    """Wrap a keyword of the validator: each use of it is a step; raises TooMuchError beyond the last one."""

    @functools.wraps(keyword)
    def check(*args: P.args, **options: P.kwargs) -> Result:
        left = _left.get()
        if left is not None:
            left[0] -= 1
            if left[0] < 0:
                raise TooMuchError
        return keyword(*args, **options)

    return check


@contextmanager
def allowed_for(values: Json) -> Iterator[None]:
    """Allow as many steps as these values may take."""
    before = _left.set([min(MOST_STEPS, STEPS + STEPS_FOR_EACH * _count(values))])
    try:
        yield
    finally:
        _left.reset(before)


def _count(values: Json) -> int:
    found, waiting = 0, [values]
    while waiting:
        value: Any = waiting.pop()
        found += 1
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
    return found
