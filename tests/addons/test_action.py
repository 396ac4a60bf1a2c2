"""One call: how it is named in the record, and whether it flows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ghost_addons.action import Action, is_mutation


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE", "get"])
def test_every_method_but_the_three_safe_ones_may_change_something(method: str) -> None:
    assert is_mutation(method)
    assert not any(map(is_mutation, ("GET", "HEAD", "OPTIONS")))


def test_a_raw_call_is_named_by_host_and_method(action_of: Callable[..., Action]) -> None:
    assert (action_of("PUT", tool="").tool, action_of("PUT", tool="").name) == ("api.test", "PUT")
    assert (action_of().tool, action_of().name) == ("demo", "write")


@pytest.mark.parametrize(
    "fields", [{"streamed_reply": True}, {"websocket": True}, {"body_mode": "streamed"}]
)
def test_a_call_whose_bytes_pass_while_they_come_flows(
    fields: dict[str, object], action_of: Callable[..., Action]
) -> None:
    assert action_of(**fields).flows
    assert not action_of(body_mode="buffered").flows


def test_latency_counts_microseconds_from_the_headers(action_of: Callable[..., Action]) -> None:
    action = action_of()
    action.started_ns -= 5_000_000_000
    assert 5_000_000 <= action.latency_us < 60_000_000
