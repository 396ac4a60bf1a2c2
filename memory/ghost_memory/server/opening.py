"""Opens memory for the server: the store of this home, and the parts that are plugged in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ghost_core.clock import Clock
from ghost_ledger.recorder import Recorder
from ghost_memory.journal import Journal, Who
from ghost_memory.server.desk import Desk
from ghost_memory.server.parts import Parts
from ghost_memory.server.service import Caller

__all__ = ["Store"]


@dataclass(frozen=True, slots=True)
class Store:
    """A store that is open: a desk for each caller, all over one recorder."""

    recorder: Recorder
    clock: Clock
    parts: Parts
    closing: Callable[[], None]

    def desk(self, caller: Caller) -> Desk:
        """Return a place to work at, where changes are entered under the caller's name."""
        who = Who("mcp", caller.host, caller.session)
        return Desk(Journal(self.recorder, self.clock, who), self.parts)

    def close(self) -> None:
        """End what works in the background, then close the ledger."""
        try:
            self.parts.close()
        finally:
            self.closing()
