from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghost_core import errors, ids
from ghost_core.errors import (
    DeniedError,
    FailedError,
    GhostError,
    NotFoundError,
    UnavailableError,
    UsageError,
)
from ghost_ledger.session import control
from ghost_ledger.session.control import (
    LINE_LIMIT_BYTES,
    ControlServer,
    Handler,
    Message,
    ask,
    describe,
    revive,
)
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.runtime import SessionFolder

type Launch = Callable[..., subprocess.Popen[str]]

OWNER = """
import asyncio, sys
from ghost_ledger.session.control import ControlServer
from ghost_ledger.session.custody import Custody

async def handle(request):
    return {"pid": __import__("os").getpid(), "request": request}

async def main():
    with Custody.acquire(sys.argv[1]):
        async with ControlServer(sys.argv[1], handle):
            print("ready", flush=True)
            await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def sid(root: Path):
    custody = Custody.create(ids.session_id())
    custody.release()
    return custody.folder.sid


def serving(sid: str, handler: Handler, action: Callable[[], object]):
    """Run the action in a thread while a server answers in this one's loop; return what it returned."""

    async def main():
        async with ControlServer(sid, handler):
            return await asyncio.wait_for(asyncio.to_thread(action), 5)

    return asyncio.run(main())


async def echo(request: Message):
    return {"echo": request}


def lines(root: Path, sid: str, *sent: bytes):
    """Send raw lines over one connection and return the answers, until as many came or it was closed."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(5)
        descriptor = os.open(root / sid, os.O_RDONLY)
        channel.connect(f"/proc/self/fd/{descriptor}/control.sock")
        os.close(descriptor)
        channel.sendall(b"".join(sent))
        with channel.makefile("rb") as file:
            return [json.loads(line) for _ in sent if (line := file.readline())]


def test_an_owner_answers_what_it_was_asked(sid: str) -> None:
    asked = {"verb": "act", "name": "ä", "deep": [1, {"x": None}]}
    assert serving(sid, echo, lambda: ask(sid, asked, timeout=5)) == {"echo": asked}


def test_the_socket_is_private_and_goes_with_the_server(root: Path, sid: str) -> None:
    path = root / sid / "control.sock"
    mode = serving(sid, echo, lambda: stat.S_IMODE(path.stat().st_mode))
    assert mode == 0o600
    assert not path.exists()


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


@pytest.mark.parametrize(
    "kind",
    sorted(GhostError.__subclasses__(), key=lambda kind: kind.__name__),
    ids=lambda kind: kind.__name__,
)
def test_a_refusal_comes_back_as_the_same_error(sid: str, kind: type[GhostError]) -> None:
    async def refuse(_: Message):
        raise kind("no", code="some.code", hint="ghost why")

    with pytest.raises(kind) as caught:
        serving(sid, refuse, lambda: ask(sid, {}, timeout=5))
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.hint, caught.value.message) == (
        "some.code",
        "ghost why",
        "no",
    )


def test_an_unknown_kind_comes_back_by_its_exit_code() -> None:
    described = describe(DeniedError("no", code="x.y")) | {"kind": "NewerError"}
    assert isinstance(revive(described), DeniedError)
    assert isinstance(revive({}), FailedError)
    assert errors.GhostError not in {type(revive({"exit_code": code})) for code in range(9)}


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


def test_a_line_over_the_limit_is_refused_on_both_ends(root: Path, sid: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(sid, {"x": "y" * LINE_LIMIT_BYTES}, timeout=5)
    assert caught.value.code == "control.too_long"

    async def huge(_: Message):
        return {"x": "y" * LINE_LIMIT_BYTES}

    with pytest.raises(UsageError) as caught:
        serving(sid, huge, lambda: ask(sid, {}, timeout=5))
    assert caught.value.code == "control.too_long"


def test_a_line_of_some_megabytes_goes_through(sid: str) -> None:
    body = "y" * (4 << 20)
    assert serving(sid, echo, lambda: ask(sid, {"body": body}, timeout=5)) == {
        "echo": {"body": body}
    }


def test_half_a_line_asks_nothing(root: Path, sid: str) -> None:
    asked = []

    async def note(request: Message):
        asked.append(request)
        return {}

    def half():
        with socket.socket(socket.AF_UNIX) as channel:
            descriptor = os.open(root / sid, os.O_RDONLY)
            channel.connect(f"/proc/self/fd/{descriptor}/control.sock")
            os.close(descriptor)
            channel.sendall(b'{"verb":"evaporate"}')
        return ask(sid, {"verb": "whole"}, timeout=5)

    serving(sid, note, half)
    assert asked == [{"verb": "whole"}]


def test_without_an_owner_nobody_answers(root: Path, sid: str) -> None:
    for each in (sid, ids.session_id()):
        with pytest.raises(NotFoundError) as caught:
            ask(each, {}, timeout=5)
        assert caught.value.code == "session.no_owner"


def test_a_silent_owner_is_given_up_in_time(sid: str) -> None:
    async def never(_: Message):
        await asyncio.Event().wait()

    with pytest.raises(UnavailableError) as caught:
        serving(sid, never, lambda: ask(sid, {}, timeout=0.05))
    assert caught.value.code == "session.owner_silent"


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


def test_the_socket_of_a_killed_owner_is_replaced(root: Path, sid: str, launch: Launch) -> None:
    first = launch(OWNER, sid)
    assert first.stdout.readline() == "ready\n"
    assert ask(sid, {}, timeout=5)["pid"] == first.pid
    first.kill()
    first.wait(timeout=5)
    assert (root / sid / "control.sock").exists()
    with pytest.raises(NotFoundError):
        ask(sid, {}, timeout=5)
    second = launch(OWNER, sid)
    assert second.stdout.readline() == "ready\n"
    assert ask(sid, {}, timeout=5)["pid"] == second.pid


def test_the_socket_of_a_living_owner_is_not_replaced(sid: str) -> None:
    async def main():
        async with ControlServer(sid, echo):
            await ControlServer(sid, echo).start()

    with pytest.raises(UnavailableError) as caught:
        asyncio.run(main())
    assert caught.value.code == "session.owned"


def test_a_runtime_folder_with_a_long_name_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 120)
    (deep / "ghost_sessions").mkdir(mode=0o700, parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    custody = Custody.create(ids.session_id())
    custody.release()
    sid = custody.folder.sid
    assert serving(sid, echo, lambda: ask(sid, {"a": 1}, timeout=5)) == {"echo": {"a": 1}}
    assert not custody.folder.socket.exists()


STRANGER = """
import os, socket, sys
channel = socket.socket(socket.AF_UNIX)
os.setgid(65534)
os.setuid(65534)
channel.connect(sys.argv[1])
try:
    channel.sendall(b"{}\\n")
    print(len(channel.recv(100)))
except ConnectionError:
    print(0)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_another_user_gets_no_answer(launch: Launch) -> None:
    """The folder alone keeps strangers out; here it is opened up, to see the second lock."""
    asked = []

    async def note(request: Message):
        asked.append(request)
        return {}

    async def main(root: Path, folder: SessionFolder):
        async with ControlServer(folder.sid, note, root=root):
            folder.path.chmod(0o755)
            folder.socket.chmod(0o666)
            child = launch(STRANGER, str(folder.socket))
            return await asyncio.to_thread(child.communicate, timeout=5)

    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        with Custody.create(ids.session_id(), root=root) as custody:
            assert asyncio.run(main(root, custody.folder))[0] == "0\n"
    assert asked == []


def test_uvloop_serves_too(sid: str) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main():
        async with ControlServer(sid, echo):
            return await asyncio.wait_for(asyncio.to_thread(ask, sid, {"a": 1}, timeout=5), 5)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()) == {"echo": {"a": 1}}


def test_every_kind_of_error_can_be_revived() -> None:
    assert set(control._KINDS.values()) == {GhostError, *GhostError.__subclasses__()}


def fake_owner(root: Path, sid: str, answer: bytes) -> threading.Thread:
    """Answer one request with these bytes, as an owner of another version might."""
    descriptor = os.open(root / sid, os.O_RDONLY)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"/proc/self/fd/{descriptor}/control.sock")
    os.close(descriptor)
    listener.listen()
    listener.settimeout(5)

    def serve() -> None:
        with listener:
            channel, _ = listener.accept()
            with channel:
                channel.settimeout(5)
                channel.recv(65536)
                channel.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "answer", [b"", b'{"result"', b"{\n", b"[]\n", b'{"result":1}\n', b'{"error":null}\n']
)
def test_an_answer_that_is_none_means_that_the_owner_is_lost(
    root: Path, sid: str, answer: bytes
) -> None:
    thread = fake_owner(root, sid, answer)
    with pytest.raises(UnavailableError) as caught:
        ask(sid, {}, timeout=5)
    thread.join(5)
    assert caught.value.code == "session.owner_lost"


def test_a_foreign_line_over_the_limit_is_answered_and_the_line_is_cut(
    root: Path, sid: str
) -> None:
    (answer,) = serving(sid, echo, lambda: lines(root, sid, b"x" * (LINE_LIMIT_BYTES + 1)))
    assert answer["error"]["code"] == "control.too_long"


def test_a_crowd_of_clients_is_turned_away(root: Path, sid: str) -> None:
    def crowd() -> list[Message]:
        with contextlib.ExitStack() as stack:
            for _ in range(control._CLIENTS):
                channel = stack.enter_context(socket.socket(socket.AF_UNIX))
                descriptor = os.open(root / sid, os.O_RDONLY)
                channel.connect(f"/proc/self/fd/{descriptor}/control.sock")
                os.close(descriptor)
            return lines(root, sid, b"{}\n")

    (answer,) = serving(sid, echo, crowd)
    assert answer["error"]["code"] == "session.owner_busy"


def test_without_a_folder_no_socket_can_be_bound(root: Path) -> None:
    (root / (sid := ids.session_id())).mkdir(mode=0o700)
    server = ControlServer(sid, echo)
    (root / sid).rmdir()
    with pytest.raises(GhostError) as caught:
        asyncio.run(server.start())
    assert caught.value.exit_code == 4


def test_stopping_what_was_never_started_is_no_error(sid: str) -> None:
    asyncio.run(ControlServer(sid, echo).stop())


def test_no_time_is_no_answer(sid: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        ask(sid, {}, timeout=0)
    assert caught.value.code == "session.owner_silent"
