"""What reaches the client, with the streams taken in a process of its own."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """\
import os, subprocess, sys, warnings
from ghost_memory.server.streams import taken
with taken() as streams:
    print("a print \\u017c")
    warnings.warn("a warning")
    os.write(1, b"written to the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('of a child'); print(repr(input()))"], stderr=subprocess.DEVNULL)
    os.write(streams.sink, os.read(streams.source, 100).upper())
print("given back")
print(sys.stdin.readline().strip())
"""


def run(**env: str) -> subprocess.CompletedProcess[bytes]:
    program = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"line\n")
        process.stdin.flush()
        out, errors = process.communicate(b"", timeout=30)
    return subprocess.CompletedProcess(program, process.returncode, out, errors)


def test_only_the_protocol_reaches_stdout_until_it_is_given_back() -> None:
    done = run()
    assert done.stdout.splitlines() == [b"LINE", b"given back", b""]
    for said in (b"a print", b"a warning", b"written to the descriptor", b"of a child"):
        assert said in done.stderr


def test_the_streams_speak_utf8_whatever_the_console_says() -> None:
    done = run(PYTHONIOENCODING="cp1252", PYTHONUTF8="0", LC_ALL="C")
    assert done.returncode == 0
    assert "a print ż".encode() in done.stderr
