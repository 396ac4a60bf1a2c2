"""`ghost` in a process of its own that is forked from one which has loaded other people's libraries.

They are two thirds of what a command needs to start. What is ours is imported anew in every process, in the
environment of the command.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_LOADED = ["typer", "pydantic", "sqlmodel", "sqlalchemy.dialects.sqlite", "alembic", "yaml"]
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(_LOADED)


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
    places = [str(each) for each in files]
    process = _context.Process(target=_command, args=(list(words), dict(env), str(cwd), places))
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise subprocess.TimeoutExpired(list(words), seconds)
    code = process.exitcode
    process.close()
    return code


def _command(words: list[str], env: dict[str, str], cwd: str, files: list[str]) -> NoReturn:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, path in enumerate(files):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # as it is at a start
    sys.argv = ["ghost", *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from ghost_cli.main import main

    sys.exit(main())
