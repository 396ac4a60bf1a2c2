"""The log of one live session: what the trail tells of its calls, in its own folder, gone with the seal.

Written only with `-v` (contract §1: `proxy.log`), redacted as every log is. A line that cannot be written is
lost: logs are no evidence, and no call waits for them.
"""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from typing import Final, override

from ghost_addons.trail import LOGGER
from ghost_core import log
from ghost_core.errors import GhostError
from ghost_ledger.session.runtime import SessionFolder

__all__ = ["LIMIT_BYTES", "SessionLogs", "listen"]

LIMIT_BYTES: Final = 4 * 1024 * 1024  # the folder is often kept in memory
_FLAGS: Final = (
    os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
)


def listen() -> None:
    """Write the log of every session of this process from now on."""
    LOGGER.addHandler(SessionLogs())


class SessionLogs(logging.Handler):
    """Appends each event that names a session to the log in that session's folder, as a line of JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(log.Lines(as_json=True))

    @override
    def emit(self, record: logging.LogRecord) -> None:
        event: object = record.msg
        if isinstance(event, dict) and event.get("sid"):
            with suppress(GhostError, OSError):
                _append(SessionFolder(str(event["sid"])), self.format(record) + "\n")


def _append(folder: SessionFolder, line: str) -> None:
    descriptor = folder.open()
    try:
        file = os.open(folder.log.name, _FLAGS, 0o600, dir_fd=descriptor)
    finally:
        os.close(descriptor)
    try:
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode) and found.st_size < LIMIT_BYTES:
            os.write(file, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(file)
