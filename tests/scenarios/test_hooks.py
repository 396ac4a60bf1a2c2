"""Hooks over the wire: a slow one delays its own call only, a bad one is contained and refuses."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support import fixtures
from support.agent import Answer, secure_connect
from support.agent2 import Http2Client
from support.board import scenario
from support.certs import Certs
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.upstream import Upstream

pytestmark = scenario(
    "hook-contained", 2, "hooks that are slow, fork, hang or leave processes behind"
)

OTHERS = 20
PYTHON = f"#!{sys.executable} -IS\nimport os, signal, sys, time\nopen('pids', 'a').write(f'{{os.getpid()}} ')\n"
HANGS = "time.sleep(60)\n"
FORKS = "if os.fork() == 0:\n    open('pids', 'a').write(f'{os.getpid()} ')\n    time.sleep(60)\n"
WAITS = "until = time.monotonic() + 3\nwhile len(open('pids').read().split()) < 2 and time.monotonic() < until: pass\n"

up = fixtures.upstream("function")


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    with live_proxy(tmp_path, certs, up, hooks={"timeout_seconds": 5}) as proxy:
        yield proxy


def posted(live: LiveProxy, session: LiveSession, up: Upstream) -> Answer:
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", "/status/200", {"Host": up.authority}, b"{}")


def test_a_slow_hook_delays_its_own_call_only(live: LiveProxy, up: Upstream) -> None:
    """mitmproxy/mitmproxy#7748: one call waited in a hook, and every other with it."""
    waiting, go = live.home.root / "hooks" / "waiting", live.home.root / "hooks" / "go"
    live.home.hook(
        "demo_api_POST_pre.sh",
        f"#!/bin/sh\ntouch {waiting}\nwhile [ ! -e {go} ]; do sleep 0.05; done\n",
    )
    session = live.spawn("demo_api")
    answers: list[int] = []
    slow = threading.Thread(target=lambda: answers.append(posted(live, session, up).status))
    slow.start()
    until(waiting.exists)
    with ExitStack() as stack:
        for _ in range(OTHERS):
            tunnel = stack.enter_context(
                secure_connect(live.port, up.authority, session.auth, ca=live.ca)
            )
            assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
        assert answers == []
        go.touch()
        slow.join(10)
    assert answers == [200]


def test_a_slow_hook_delays_no_other_stream_of_its_connection(
    live: LiveProxy, up: Upstream
) -> None:
    go = live.home.root / "hooks" / "go"
    live.home.hook("demo_api_POST_pre.sh", f"#!/bin/sh\nwhile [ ! -e {go} ]; do sleep 0.05; done\n")
    session = live.spawn("demo_api")
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)) as tunnel:
        client = Http2Client(tunnel)
        slow = client.begin("POST", "/echo", up.authority, body=b"{}")
        for _ in range(OTHERS):
            assert client.request("GET", "/echo", up.authority).status == 200
        assert up.requests[-1].method == b"GET"
        go.touch()
        assert client.answer(slow).status == 200


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        (HANGS, 500, "hook.timeout"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + HANGS, 500, "hook.timeout"),
        ("for number in range(3): os.close(number)\n" + HANGS, 500, "hook.timeout"),
        (FORKS + HANGS, 500, "hook.timeout"),
        ("while True: os.write(1, b'x' * 65536)\n", 500, "hook.output"),
        (FORKS + "while True: os.write(1, b'x' * 65536)\n", 500, "hook.output"),
        ("os.kill(os.getpid(), 9)\n", 403, "hook.denied"),
        (FORKS + WAITS + "sys.exit(3)\n", 403, "hook.denied"),
    ],
)
def test_a_hook_that_misbehaves_is_killed_with_its_group_and_refuses(
    tmp_path: Path, certs: Certs, up: Upstream, *, script: str, status: int, code: str
) -> None:
    with live_proxy(tmp_path, certs, up, hooks={"timeout_seconds": 1}) as live:
        live.home.hook("demo_api_POST_pre.x", PYTHON + script)
        session = live.spawn("demo_api")
        answer = posted(live, session, up)
        assert (answer.status, code in answer.body.decode()) == (status, True)
        denied = live.last(session)
        assert (denied.type, denied.fields["error"]) == ("action.denied", code)
        verdict: Any = denied.fields["verdicts"]
        assert len(verdict[-1]["hash"]) == 64
    assert up.requests == ()
    assert_gone(live.home.root / "hooks" / "pids")


@pytest.mark.parametrize(
    "script",
    [
        "for _ in range(100): os.write(2, b'x' * 65536)\n",
        FORKS + WAITS,
        FORKS.replace("    open", "    os.setsid()\n    open") + WAITS,
        "os.close(1)\nos.close(2)\n",
    ],
)
def test_a_hook_that_is_only_untidy_is_cleaned_up_after(
    live: LiveProxy, up: Upstream, script: str
) -> None:
    live.home.hook("demo_api_POST_pre.x", PYTHON + script)
    session = live.spawn("demo_api")
    assert posted(live, session, up).status == 200
    assert_gone(live.home.root / "hooks" / "pids")


def test_a_hook_that_cannot_be_run_refuses(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    hook = live.home.hook("demo_api_POST_pre.x", "#!/bin/sh\n")
    hook.chmod(0o600)
    assert b"hook.unknown" in posted(live, session, up).body
    hook.unlink()
    hook.symlink_to("missing")
    assert b"hook.unsafe" in posted(live, session, up).body
    assert up.requests == ()


def assert_gone(pids: Path) -> None:
    """Assert that every process that noted its number has ended."""
    numbers = [int(each) for each in pids.read_text().split()]
    assert numbers
    for number in numbers:
        until(lambda number=number: _has_ended(number))  # type: ignore[misc]


def _has_ended(pid: int) -> bool:
    """Tell whether a process has ended; one that is only not reaped yet has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in {"Z", "X"}
