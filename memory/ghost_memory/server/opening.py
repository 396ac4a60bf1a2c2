"""Opens memory for the server: the store of this home, and the parts that are plugged in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ghost_core.clock import Clock
from ghost_ledger.recorder import Recorder
from ghost_memory.journal import Journal, Who
from ghost_memory.server.desk import Desk
from ghost_memory.server.parts import Parts
from ghost_memory.server.service import Caller

__all__ = ["Store"]

PARTS_SECONDS: Final = 0.5
"""How long the end waits for them: within two seconds the ledger must be sealed too."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store that is open: a desk for each caller, all over one recorder.

    `folder` is where the one host that it serves works; several hosts have none in common.
    """

    recorder: Recorder
    clock: Clock
    parts: Parts
    closing: Callable[[], None]
    folder: Path | None = None

    def desk(self, caller: Caller) -> Desk:
        """Return a place to work at, where changes are entered under the caller's name."""
        who = Who("mcp", caller.host, caller.session)
        return Desk(Journal(self.recorder, self.clock, who), self.parts, self.folder)

    def close(self) -> None:
        """End what works in the background, then close the ledger; who is not done in time is left behind."""
        ending = threading.Thread(target=self.parts.close, name="ghost-mcp-end", daemon=True)
        ending.start()
        ending.join(PARTS_SECONDS)
        self.closing()
