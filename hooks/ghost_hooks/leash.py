"""What a hook leaves behind outside its process group (`setsid`) is found by its leash and killed.

Every process of the hook inherits one end of a pipe, so the other end tells whether any is left, at no cost
where none is; then a mark in their environment tells which (Linux).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from pathlib import Path
from typing import Final

NAME: Final = "GHOST_HOOK"
_PAUSES_SECONDS: Final = (0.001, 0.005, 0.02, 0.1)  # what was killed needs a moment to be gone
_PROC = Path("/proc")


class Leash:
    """The pipe and the mark of one hook; pull it once, at the end."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(16)
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)

    def let_go(self) -> None:
        """Close our own copy of the hook's end, once the hook has it."""
        os.close(self.write_end)

    async def pull(self) -> bool:
        """Kill whatever the hook left; return whether something is left all the same."""
        try:
            for pause in _PAUSES_SECONDS:
                if not self._held():
                    return False
                await asyncio.sleep(pause)
                if pause == _PAUSES_SECONDS[-2]:
                    await asyncio.to_thread(_kill_marked, self.mark)
            return self._held()
        finally:
            os.close(self._read_end)

    def _held(self) -> bool:
        """Tell whether a process still has the other end; what was written into it is dropped."""
        try:
            return bool(os.read(self._read_end, 65_536))
        except BlockingIOError:
            return True


def _kill_marked(mark: str) -> None:
    wanted = f"{NAME}={mark}".encode()
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, or belongs to somebody else
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
