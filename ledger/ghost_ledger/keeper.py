"""The background hand that writes log heads down, at most once per second and whenever asked."""

from __future__ import annotations

import threading

from ghost_core.errors import GhostError
from ghost_core.paths import Home
from ghost_ledger import heads
from ghost_ledger.tree import Frontier

__all__ = ["HeadKeeper"]

PAUSE_SECONDS = 1.0


class HeadKeeper:
    """Remembers the newest committed head of one log; `sync` before a head leaves the process."""

    def __init__(self, home: Home, origin: str, database: str) -> None:
        self._home = home
        self._origin = origin
        self._database = database
        self._newest = Frontier()
        self._synced = 0
        self._moved = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ghost-heads", daemon=True)
        self._thread.start()

    def note(self, frontier: Frontier) -> None:
        """Take over a committed head; costs nothing, the disk is touched in the background."""
        self._newest = frontier
        self._moved.set()

    def sync(self) -> None:
        """Write the newest head down now; raises like `heads.remember`."""
        newest = self._newest
        if newest.size > self._synced:
            root = newest.root()
            heads.remember(self._home, self._origin, newest.size, root, database=self._database)
            self._synced = newest.size

    def close(self) -> None:
        """End the thread, then write the last head down; raises like `heads.remember`."""
        self._ended.set()
        self._moved.set()
        self._thread.join()
        self.sync()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._moved.wait()
            self._moved.clear()
            try:
                self.sync()
            except GhostError:
                # The next commit asks again; before a head leaves, `sync` raises in its caller.
                self._moved.set()
            self._ended.wait(PAUSE_SECONDS)
