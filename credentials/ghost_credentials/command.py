"""Secrets that a program prints: run without a shell, in a group of its own, kept for a minute.

Programs read files of the folder that they are in (`python -m`, git), so they run in ours and not in that of
a project.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from ghost_core.clock import Clock
from ghost_core.errors import UnavailableError
from ghost_core.secret import SecretBytes

KEEP_US = 60_000_000
"""How long an answer is used again, microseconds."""


@dataclass(slots=True)
class _Kept:
    """The last answer of one command, and the lock that lets it run once at a time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    answer: SecretBytes | None = None
    until_us: int = 0


class Commands:
    """Runs commands and keeps their answers for `KEEP_US`; a failure is not kept, and ends the old answer."""

    def __init__(self, clock: Clock, *, folder: Path, timeout_seconds: float) -> None:
        self._clock = clock
        self._folder = folder
        self._timeout_seconds = timeout_seconds
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def answer(self, command: str, *, subject: str) -> SecretBytes:
        """Return what the command prints; raises UnavailableError `credential.unavailable`."""
        with self._lock:
            kept = self._kept.setdefault(command, _Kept())
        with kept.lock:
            now_us = self._clock.boottime_us()
            if kept.answer is None or now_us >= kept.until_us:
                kept.answer = None
                kept.answer = self._run(command, subject=subject)
                kept.until_us = now_us + KEEP_US
            return SecretBytes(kept.answer.reveal())

    def _run(self, command: str, *, subject: str) -> SecretBytes:
        try:
            process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder,
                start_new_session=True,
            )
        except OSError as error:
            raise _failed(subject, f"cannot be started, {error.strerror}") from error
        with process:
            try:
                output, _ = process.communicate(timeout=self._timeout_seconds)
            except subprocess.TimeoutExpired as error:
                _kill_group(process.pid)
                raise _failed(subject, f"ran over {self._timeout_seconds:g} s") from error
        if process.returncode != 0:
            raise _failed(subject, f"ended with exit status {process.returncode}")
        return SecretBytes(output)


def _kill_group(pid: int) -> None:
    # the leader is not reaped yet, so the group still is ours
    os.killpg(pid, signal.SIGKILL)


def _failed(subject: str, text: str) -> UnavailableError:
    return UnavailableError(
        f"{subject}: the command {text}",
        code="credential.unavailable",
        hint="run the command by hand; it must print the secret and nothing else",
    )
