"""What the handlers work with, handed to them once at the start."""

from __future__ import annotations

from dataclasses import dataclass, field

from ghost_addons.governance import Governor
from ghost_addons.hidden import Secrets
from ghost_addons.refusals import Refusals
from ghost_addons.session import Sessions
from ghost_core.clock import Clock
from ghost_core.paths import Home
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Services:
    """The collaborators of one engine."""

    home: Home
    clock: Clock
    ledger: Ledger
    recorder: Recorder
    sessions: Sessions
    governor: Governor
    secrets: Secrets
    refusals: Refusals
    doors: set[tuple[str, int]] = field(default_factory=set)
    """Addresses and port on which the engine listens, filled at its start."""
