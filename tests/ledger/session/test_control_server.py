from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import uvloop

from ghost_core.errors import (
    FailedError,
    NotFoundError,
    UnavailableError,
)
from ghost_ledger.session.control import ask
from ghost_ledger.session.control_server import ControlServer
from ghost_ledger.session.control_socket import CLIENTS
from ghost_ledger.session.messages import LINE_LIMIT_BYTES, Message
from support.control import dial, echo, lines, serving

type Launch = Callable[..., subprocess.Popen[str]]


def test_many_clients_are_answered_at_once(sid: str) -> None:
    waiting = asyncio.Event()
    seen = []

    async def together(request: Message):
        seen.append(request["n"])
        if len(seen) == 16:
            waiting.set()
        await waiting.wait()
        return request

    async def main():
        async with ControlServer(sid, together):
            calls = (asyncio.to_thread(ask, sid, {"n": n}, timeout=5) for n in range(16))
            return await asyncio.wait_for(asyncio.gather(*calls), 5)

    found = asyncio.run(_with_threads(main))
    assert sorted(answer["n"] for answer in found) == list(range(16))


async def _with_threads(main: Callable[[], Awaitable[object]]):
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(16))
    return await main()


def test_a_bug_in_the_owner_is_reported_without_its_text(sid: str) -> None:
    async def broken(_: Message):
        raise ValueError("sk_live_secret")

    reported = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: reported.append(context)
        )
        async with ControlServer(sid, broken):
            await asyncio.to_thread(ask, sid, {}, timeout=5)

    with pytest.raises(FailedError) as caught:
        asyncio.run(main())
    assert caught.value.code == "control.failed"
    assert "secret" not in str(caught.value)
    assert isinstance(reported[0]["exception"], ValueError)


@pytest.mark.parametrize(
    "line", [b"{\n", b"[1]\n", b"null\n", b"\xff\n", b"[" * 100_000 + b"\n", b"\n"]
)
def test_a_bad_line_is_answered_and_the_next_one_too(root: Path, sid: str, line: bytes) -> None:
    bad, good = serving(sid, echo, lambda: lines(root, sid, line, b'{"a":1}\n'))
    assert bad["error"]["code"] == "control.malformed"
    assert good == {"result": {"echo": {"a": 1}}}


def test_half_a_line_asks_nothing(root: Path, sid: str) -> None:
    asked = []

    async def note(request: Message):
        asked.append(request)
        return {}

    def half():
        with socket.socket(socket.AF_UNIX) as channel:
            dial(root, sid, channel)
            channel.sendall(b'{"verb":"evaporate"}')
        return ask(sid, {"verb": "whole"}, timeout=5)

    serving(sid, note, half)
    assert asked == [{"verb": "whole"}]


def test_a_request_that_is_cut_by_the_shutdown_is_no_answer(sid: str) -> None:
    started = asyncio.Event()

    async def never(_: Message):
        started.set()
        await asyncio.Event().wait()

    async def main():
        server = ControlServer(sid, never)
        await server.start()
        call = asyncio.create_task(asyncio.to_thread(ask, sid, {}, timeout=5))
        await asyncio.wait_for(started.wait(), 5)
        await server.stop()
        await asyncio.wait_for(call, 5)

    with pytest.raises(UnavailableError) as caught:
        asyncio.run(main())
    assert caught.value.code == "session.owner_lost"


def test_a_request_that_stops_the_server_is_still_answered(sid: str) -> None:
    async def main() -> Message:
        async def stop(request: Message) -> Message:
            await server.stop()
            return request

        server = ControlServer(sid, stop)
        await server.start()
        call = asyncio.to_thread(ask, sid, {"verb": "evaporate"}, timeout=5)
        return await asyncio.wait_for(call, 5)

    assert asyncio.run(main()) == {"verb": "evaporate"}
    with pytest.raises(NotFoundError):
        ask(sid, {}, timeout=5)


def test_uvloop_serves_too(sid: str) -> None:
    async def main():
        async with ControlServer(sid, echo):
            return await asyncio.wait_for(asyncio.to_thread(ask, sid, {"a": 1}, timeout=5), 5)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()) == {"echo": {"a": 1}}


def test_a_foreign_line_over_the_limit_is_answered_and_the_line_is_cut(
    root: Path, sid: str
) -> None:
    (answer,) = serving(sid, echo, lambda: lines(root, sid, b"x" * (LINE_LIMIT_BYTES + 1)))
    assert answer["error"]["code"] == "control.too_long"


def test_a_crowd_of_clients_is_turned_away(root: Path, sid: str) -> None:
    def crowd() -> list[Message]:
        with contextlib.ExitStack() as stack:
            for _ in range(CLIENTS):
                channel = stack.enter_context(socket.socket(socket.AF_UNIX))
                dial(root, sid, channel)
            return lines(root, sid, b"{}\n")

    (answer,) = serving(sid, echo, crowd)
    assert answer["error"]["code"] == "session.owner_busy"


def test_stopping_what_was_never_started_is_no_error(sid: str) -> None:
    asyncio.run(ControlServer(sid, echo).stop())
