from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.errors import (
    GhostError,
    NotFoundError,
    UnavailableError,
)
from ghost_ledger.session.control import ask
from ghost_ledger.session.control_server import ControlServer
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.messages import Message
from ghost_ledger.session.runtime import SessionFolder
from support.control import echo, serving

type Launch = Callable[..., subprocess.Popen[str]]

OWNER = """
import asyncio, sys
from ghost_ledger.session.control_server import ControlServer
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


def test_the_socket_is_private_and_goes_with_the_server(root: Path, sid: str) -> None:
    path = root / sid / "control.sock"
    mode = serving(sid, echo, lambda: stat.S_IMODE(path.stat().st_mode))
    assert mode == 0o600
    assert not path.exists()


def test_without_an_owner_nobody_answers(root: Path, sid: str) -> None:
    for each in (sid, ids.session_id()):
        with pytest.raises(NotFoundError) as caught:
            ask(each, {}, timeout=5)
        assert caught.value.code == "session.no_owner"


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


def test_without_a_folder_no_socket_can_be_bound(root: Path) -> None:
    (root / (sid := ids.session_id())).mkdir(mode=0o700)
    server = ControlServer(sid, echo)
    (root / sid).rmdir()
    with pytest.raises(GhostError) as caught:
        asyncio.run(server.start())
    assert caught.value.exit_code == 4
