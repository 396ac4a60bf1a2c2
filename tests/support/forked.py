"""`ghost` in a process of its own that is forked from one which has loaded other people's libraries.

They are two thirds of what a command needs to start. What is ours is imported anew in every process, in the
environment of the command.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.reduction import DupFd
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from multiprocessing.context import ForkServerProcess
    from pathlib import Path

_LOADED = [
    "typer",
    "pydantic",
    "sqlmodel",
    "sqlalchemy.dialects.sqlite",
    "alembic",
    "yaml",
    "uvloop",
]
_LOADED += ["mitmproxy.proxy.layers", "mitmproxy.proxy.server", "mitmproxy.options"]
_STREAMS = 3
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(_LOADED)
_polling = threading.Lock()  # each start asks for the ends of all; an end can be read once only

# What a shell starts as `ghost`: hands over words and streams, passes signals on, ends as the command did.
_CLIENT = """\
#!{python} -ISs
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as door:
    door.connect({address!r})
    said = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    socket.send_fds(door, [len(said).to_bytes(4, "big")], [0, 1, 2])
    door.sendall(said)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: door.send(bytes([number])))
    code = int(door.makefile().readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def run(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    files: Sequence[Path],
    seconds: float,
) -> int:
    """Run a command whose stdin, stdout and stderr are these files, and return its exit code.

    Raises: subprocess.TimeoutExpired, after it was killed.
    """
    with contextlib.ExitStack() as opened:
        modes = ("rb", "wb", "wb")
        streams = [
            opened.enter_context(path.open(mode)) for path, mode in zip(files, modes, strict=True)
        ]
        process = _start(words, env, str(cwd), [each.fileno() for each in streams])
    if not wait([process.sentinel], seconds):
        process.kill()
        _ended(process)
        raise subprocess.TimeoutExpired(list(words), seconds)
    return _ended(process)


@contextmanager
def on_path(folder: Path) -> Iterator[Path]:
    """Put a `ghost` into a folder that shells can have in their PATH, until the block ends."""
    address = str(folder / "door")
    client = folder / "ghost"
    client.write_text(_CLIENT.format(python=sys.executable, address=address), "utf-8")
    client.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        yield folder
        listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the block has ended
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    with connection, contextlib.suppress(ConnectionError):
        head, streams, _, _ = socket.recv_fds(connection, 4, _STREAMS)
        said = connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
        process = _start(*json.loads(said), streams)
        for each in streams:
            os.close(each)
        threading.Thread(target=_pass_on, args=(connection, process), daemon=True).start()
        connection.sendall(f"{_ended(process)}\n".encode())


def _pass_on(connection: socket.socket, process: ForkServerProcess) -> None:
    """Pass the signals of the client on; one that is gone takes the command with it."""
    with contextlib.suppress(OSError, ValueError):
        while number := connection.recv(1):
            os.kill(process.pid or 0, number[0])
        process.kill()


def _start(
    words: Sequence[str], env: Mapping[str, str], cwd: str, streams: Sequence[int]
) -> ForkServerProcess:
    process = _context.Process(target=_Command(words, env, cwd, streams))
    with _polling:
        process.start()
    return process


def _ended(process: ForkServerProcess) -> int:
    wait([process.sentinel])
    with _polling:
        process.join()
        return process.exitcode or 0


class _Command:
    """What the new process does; its streams reach it as it starts."""

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], cwd: str, streams: Sequence[int]
    ) -> None:
        self._words, self._env, self._cwd = list(words), dict(env), cwd
        self._streams = tuple(streams)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_streams": [DupFd(each) for each in self._streams]}

    def __call__(self) -> NoReturn:
        os.chdir(self._cwd)
        os.environ.clear()
        os.environ.update(self._env)
        for number, stream in enumerate(self._streams):
            handle = stream.detach()  # type: ignore[attr-defined]
            os.dup2(handle, number)
            os.close(handle)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # as it is at a start
        sys.argv = ["ghost", *self._words]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from ghost_cli.main import main

        sys.exit(main())
