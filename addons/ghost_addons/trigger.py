"""One trigger of the configuration: a program that runs after an event, contained like a hook."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from pathlib import Path

from ghost_addons.notice import Notice
from ghost_core import log
from ghost_core.settings_tables import TriggerSettings
from ghost_hooks.process import Finished, run

POLL_SECONDS = 0.05


@dataclass(slots=True)
class Trigger:
    """Starts one command for each event, one after the other; the event is JSON on its stdin."""

    settings: TriggerSettings
    folder: Path
    timeout_seconds: float
    ran: int = 0
    failed: int = 0

    def start(self, notice: Notice, stop: threading.Event) -> None:
        """Run the command to its end, its deadline, or until `stop` is set; a failure is logged."""
        self.ran += 1
        try:
            problem = _problem(asyncio.run(self._contained(notice, stop)))
        except asyncio.CancelledError:
            problem = "stopped"
        except (OSError, ValueError) as error:
            problem = f"cannot be started, {getattr(error, 'strerror', '') or 'bad argument'}"
        if problem:
            self._count(1, about=notice.name, entry=notice.entry_hash, problem=problem)

    def lost(self, count: int) -> None:
        """Log that events were given up before their command was started."""
        self._count(count, problem="never started")

    def _count(self, count: int, **fields: str) -> None:
        self.failed += count
        # The program only: arguments can be secrets.
        log.events(__name__).warning(
            "trigger.failed", program=self.settings.command[0], count=count, **fields
        )

    async def _contained(self, notice: Notice, stop: threading.Event) -> Finished:
        work = asyncio.ensure_future(
            run(
                self.settings.command,
                stdin=notice.body,
                folder=self.folder,
                timeout_seconds=self.timeout_seconds,
            )
        )
        while not work.done():
            await asyncio.wait({work}, timeout=POLL_SECONDS)
            if stop.is_set():
                work.cancel()
        return work.result()


def _problem(finished: Finished) -> str:
    if finished.timed_out:
        return "took too long and was killed"
    if finished.escaped:
        return "left a process behind"
    if finished.overflowed:
        return "wrote more than 64 KiB and was killed"
    return f"exit status {finished.exit}" if finished.exit else ""
