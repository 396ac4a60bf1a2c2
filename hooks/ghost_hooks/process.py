"""Runs a foreign program contained: own process group, a deadline, capped output, nothing inherited."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ghost_hooks.leash import NAME, Leash

OUTPUT_LIMIT = 64 * 1024
_CHUNK = 16 * 1024


@dataclass(frozen=True, slots=True)
class Finished:
    """How it ended: exit status (128 + n for signal n), output so far, milliseconds.

    `escaped` says that a process of it is left that could not be found.
    """

    exit: int
    output: bytes
    timed_out: bool
    overflowed: bool
    ms: int
    escaped: bool = False


class _Output:
    """Collects a pipe up to the limit; `over` is set when more comes or nothing will."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.data = bytearray()
        self.over = asyncio.Event()
        os.set_blocking(descriptor, False)

    def pump(self) -> None:
        """Take what is there; at the end stop listening, as an ended pipe stays readable."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self.data += chunk
        if len(self.data) > OUTPUT_LIMIT:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self.over.set()

    def drain(self) -> None:
        """Take the rest without waiting: a process that escaped may still hold the pipe."""
        with contextlib.suppress(BlockingIOError):
            while len(self.data) <= OUTPUT_LIMIT and (chunk := os.read(self._descriptor, _CHUNK)):
                self.data += chunk


async def run(
    argv: Sequence[str], *, stdin: bytes, folder: Path, timeout_seconds: float
) -> Finished:
    """Run the program in the folder, without a shell, and kill all that it started at the end.

    Input comes from an unlinked file, so that a program that does not read it blocks nobody.
    Raises: OSError if it cannot be started.
    """
    started = time.monotonic_ns()
    read_end, write_end = os.pipe()
    output = _Output(read_end)
    leash = Leash()
    try:
        try:
            with tempfile.TemporaryFile() as document:
                document.write(stdin)
                document.seek(0)
                process = await _start(argv, document, write_end, folder, leash)
        finally:
            os.close(write_end)
            leash.let_go()
        timed_out = await _watch(process, output, read_end, timeout_seconds)
        output.drain()
    finally:
        os.close(read_end)
        escaped = await leash.pull()
    status = process.returncode or 0
    return Finished(
        exit=128 - status if status < 0 else status,
        output=bytes(output.data[:OUTPUT_LIMIT]),
        timed_out=timed_out,
        overflowed=len(output.data) > OUTPUT_LIMIT,
        ms=(time.monotonic_ns() - started) // 1_000_000,
        escaped=escaped,
    )


def environment(mark: str = "1") -> dict[str, str]:
    """Return all that a hook learns of ours: no variable of the caller is passed on."""
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(Path.home()),
        "LANG": "C.UTF-8",
        NAME: mark,
    }


async def _start(
    argv: Sequence[str], document: IO[bytes], write_end: int, folder: Path, leash: Leash
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *argv,
        stdin=document,
        stdout=write_end,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        env=environment(leash.mark),
        pass_fds=(leash.write_end,),
        start_new_session=True,
    )


async def _watch(
    process: asyncio.subprocess.Process, output: _Output, read_end: int, timeout_seconds: float
) -> bool:
    """Wait for the end, the deadline or too much output; return whether the deadline came first."""
    loop = asyncio.get_running_loop()
    loop.add_reader(read_end, output.pump)
    try:
        async with asyncio.timeout(timeout_seconds), asyncio.TaskGroup() as group:
            ended = group.create_task(process.wait())
            ended.add_done_callback(lambda _: output.over.set())
            await output.over.wait()
            _kill_group(process.pid)
    except TimeoutError:
        return True
    finally:
        loop.remove_reader(read_end)
        _kill_group(process.pid)
        await process.wait()
    return False


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
