from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import UnavailableError
from ghost_memory.server.budget import ANSWER_COST, cost
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.service import Caller, Failure, Service
from support.mcp import Calls, service_on
from support.memory import Store

VALUES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["app", "_global", "fact", "active", "a" * 32, "", "0", "true", "«»", "\ud800", "\0"]
    ),
    st.integers(),
    st.floats(allow_nan=True),
    st.booleans(),
    st.none(),
    st.lists(st.text(max_size=10), max_size=3),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    tool = draw(st.sampled_from(list(TOOLS.values())))
    named = {each.name for each in tool.parameters}
    arguments: dict[str, object] = {name: draw(VALUES) for name in named if draw(st.integers(0, 3))}
    if draw(st.integers(0, 5)) == 0:
        arguments[draw(st.text(max_size=12))] = draw(VALUES)
    if "project_id" in named and draw(st.booleans()):
        arguments["project_id"] = "app"
    return tool.name, arguments


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(calls(), min_size=1, max_size=6))
def test_any_call_is_answered_or_refused_and_never_surprises(
    memory: Store, asked: list[tuple[str, dict[str, object]]]
) -> None:
    service = service_on(memory)
    for tool, arguments in asked:
        answer = service.call(tool, arguments, Caller())
        assert "unexpected" not in answer.text or not answer.failed
        assert answer.text
        answer.text.encode()
        assert cost(answer.text) <= ANSWER_COST


def test_a_tool_that_does_not_exist_is_a_failure(service: Service) -> None:
    with pytest.raises(Failure, match="Unknown tool: nothing"):
        service.call("nothing", {}, Caller())
    with pytest.raises(Failure, match="Unknown prompt"):
        service.prompt("nothing", {}, Caller())


def test_calls_of_many_threads_lose_nothing(service: Service, memory: Store) -> None:
    def save(number: int) -> None:
        Calls(service).save(f"fact {number} of thread {threading.get_ident()} {'x' * number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(80)))
    assert memory.rows("SELECT count(*) FROM memories") == [80]


def test_the_store_is_opened_once_and_only_when_it_is_needed(memory: Store) -> None:
    opened: list[int] = []
    within = service_on(memory)

    def opening() -> Any:
        opened.append(1)
        return within.open()

    service = Service(opening)
    assert opened == []
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: service.call("ghost_health", {}, Caller()), range(8)))
    assert opened == [1]


def test_a_store_that_cannot_be_opened_is_told_and_tried_again(memory: Store) -> None:
    within, tries = service_on(memory), [0]

    def opening() -> Any:
        tries[0] += 1
        if tries[0] == 1:
            raise UnavailableError("database: locked", code="database.locked", hint="try again")
        return within.open()

    service = Service(opening)
    first = service.call("ghost_health", {}, Caller())
    assert (first.failed, first.text) == (True, "database: locked\ntry again")
    assert not service.call("ghost_health", {}, Caller()).failed


def test_a_mistake_of_ours_is_answered_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def opening() -> Any:
        raise RuntimeError("stored text: hunter2")

    answer = Service(opening).call("ghost_health", {}, Caller())
    assert answer.failed
    assert answer.text == "unexpected RuntimeError in ghost; nothing was changed"
    assert "hunter2" not in caplog.text
    assert "test_service.py" in caplog.text


def test_after_the_end_a_call_is_refused(service: Service) -> None:
    service.close()
    answer = service.call("ghost_health", {}, Caller())
    assert answer.text == "memory: the server is ending"


@pytest.mark.parametrize(
    ("name", "version", "host"),
    [
        ("claude-code", "2.1", "claude-code/2.1"),
        ("", "", ""),
        ("x", "", "x"),
        ("a" * 300, "1", "a" * 100),
    ],
)
def test_a_client_is_called_what_it_calls_itself(name: str, version: str, host: str) -> None:
    assert Caller.of(name, version, "").host == host
