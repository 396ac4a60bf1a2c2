"""Steps of the engine are wrapped once by each wrapper, in any company."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ghost_addons import wrapping
from ghost_core.errors import FailedError

type Step = Callable[..., list[str]]


def first(step: Step) -> Step:
    return lambda self: ["first", *step(self)]


def second(step: Step) -> Step:
    return lambda self: ["second", *step(self)]


@pytest.fixture
def engine() -> type:
    class Engine:
        def send(self) -> list[str]:
            return ["sent"]

    return Engine


def test_a_step_is_wrapped_once_by_each(engine: type) -> None:
    for wrap in (first, second, first, second):
        wrapping.around(engine, "send", wrap)
    assert engine().send() == ["second", "first", "sent"]


def test_a_step_that_is_inherited_is_wrapped_for_its_heir_alone(engine: type) -> None:
    heir = type("Heir", (engine,), {})
    wrapping.around(heir, "send", first)
    assert heir().send() == ["first", "sent"]
    assert engine().send() == ["sent"]


def test_an_engine_without_the_step_is_refused(engine: type) -> None:
    with pytest.raises(FailedError) as caught:
        wrapping.around(engine, "receive", first)
    assert caught.value.code == "proxy.engine"
