"""While the agent works: what it saw is compared with what the API saw."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ghost_cli.demo.api import EVENTS, GAP_SECONDS
from ghost_cli.demo.seen import parse
from ghost_cli.demo.stage import expect, require

if TYPE_CHECKING:
    from ghost_cli.demo.stage import Stage

TASKS = ("pay", "balance", "feed", "whoami")
MARK = "[redacted by ghost]"


def run_agent(stage: Stage) -> str:
    """Run the script once; later steps look at what it wrote."""
    done = stage.agent(*TASKS)
    expect("exit code of the agent", 0, done.code)
    *work, end = done.out.splitlines()
    stage.seen = dict(zip(TASKS, map(parse, work), strict=True))
    stage.without_key("what the agent saw", done.out.encode())
    return f"python with {json.loads(end)['client']}, {len(TASKS)} calls, environment only"


def pay(stage: Stage) -> str:
    """Compare both ends of the write."""
    told = _both_ends(stage, "pay", 201, "POST /v1/payments")
    return f"{told}; the API saw the real key, the agent holds a placeholder"


def balance(stage: Stage) -> str:
    """Compare both ends of the read."""
    return _both_ends(stage, "balance", 200, "GET /v1/balance")


def feed(stage: Stage) -> str:
    """Make sure that the stream arrived event by event."""
    told = _both_ends(stage, "feed", 200, "GET /v1/feed")
    seen = stage.seen["feed"]
    expect("events", EVENTS, seen.text.count("data:"))
    first, last = seen.times_ms[1], seen.times_ms[-1]
    least_ms = GAP_SECONDS * 1000 * (EVENTS - 1) * 0.6
    require("events one after the other", holds=last - first > least_ms)
    return f"{told}, {EVENTS} events, the first after {first:.0f} ms: not held back"


def echo(stage: Stage) -> str:
    """Make sure that a key which the API sends back does not arrive."""
    told = _both_ends(stage, "whoami", 200, "GET /v1/whoami")
    require(f"{MARK!r} in the answer", holds=MARK in stage.seen["whoami"].text)
    return f"{told}; the API sent the key back, the agent read {MARK}"


def refuse(stage: Stage) -> str:
    """Make a call outside the scope: ghost answers, the API sees nothing."""
    before = len(stage.api.calls)
    seen = stage.outside_call()
    expect(f"status ({seen.excerpt()})", 403, seen.status)
    expect("calls that reached the API", before, len(stage.api.calls))
    return f"403, the API saw nothing: {seen.message()}"


def _both_ends(stage: Stage, task: str, status: int, line: str) -> str:
    seen = stage.seen[task]
    expect(f"status of {line} ({seen.excerpt()})", status, seen.status)
    calls = [call for call in stage.api.calls if f"{call.method} {call.path}" == line]
    expect(f"calls of {line} at the API", 1, len(calls))
    require("the real key at the API", holds=calls[0].authorised)
    return f"{status} in {seen.times_ms[-1]:.0f} ms"
