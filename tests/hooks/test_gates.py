"""The walk through the gates ends at the first refusal, and a failing gate is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from ghost_core.errors import ConfigError
from ghost_hooks.gates import failed, until_denied
from ghost_hooks.params import UnreadableError
from ghost_hooks.request import Verdict

_YES = Verdict.yes("scope", "a")
_NO = Verdict.no("rule", "b", "no", code="rule.denied")


def test_nothing_runs_after_a_refusal() -> None:
    ran: list[str] = []

    async def steps() -> AsyncGenerator[Verdict]:
        yield _YES
        yield _NO
        ran.append("after")
        yield _YES

    assert asyncio.run(until_denied(steps())) == (_YES, _NO)
    assert ran == []


def test_an_exception_is_a_refusal_that_shows_no_values() -> None:
    async def steps() -> AsyncGenerator[Verdict]:
        yield _YES
        raise ValueError("sk_live_secret")

    first, last = asyncio.run(until_denied(steps()))
    assert first is _YES
    assert (last.allow, last.code, last.status) == (False, "hook.failed", 500)
    assert "sk_live" not in last.reason


def test_our_own_errors_say_what_is_wrong() -> None:
    assert failed(ConfigError("rules 'a': broken")).reason == "a gate failed: rules 'a': broken"
    unreadable = failed(UnreadableError("body: no", code="params.media", status=415))
    assert (unreadable.code, unreadable.status) == ("params.media", 415)
