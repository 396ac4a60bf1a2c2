"""What session commands share: the home opened, what the dead left swept up, one session named."""

from __future__ import annotations

from dataclasses import dataclass

from ghost_core import db
from ghost_core import settings as configuration
from ghost_core.clock import SystemClock
from ghost_core.errors import UsageError
from ghost_core.paths import Home
from ghost_core.paths import home as ghost_home
from ghost_core.settings import Settings
from ghost_ledger.reader import Ledger
from ghost_ledger.session import lifetime


@dataclass(frozen=True, slots=True)
class Opened:
    """A home with its settings."""

    home: Home
    settings: Settings

    @classmethod
    def now(cls) -> Opened:
        """Open the home of this process."""
        return cls(ghost_home(), configuration.load())


def chosen(opened: Opened, named: str) -> str:
    """Return the session that was named, that of GHOST_SESSION_ID, or the only live one.

    Raises UsageError where none or several could be meant.
    """
    if named:
        return named
    engine = db.engine(opened.settings.database.url)
    try:
        clock = SystemClock()
        live = [
            row.session_id
            for row in Ledger(engine).open_sessions()
            if not row.system and not lifetime.expired(row, clock)
        ]
    finally:
        engine.dispose()
    if len(live) == 1:
        return live[0]
    raise UsageError(
        f"expected --session-id: {len(live)} sessions live",
        code="usage.session",
        hint="ghost session list" if live else "ghost spawn --intent … --scope …",
    )
