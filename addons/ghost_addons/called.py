"""Which call an outcome belongs to: its entry points to the intent and does not repeat what that said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ghost_core import log
from ghost_core.errors import GhostError
from ghost_ledger.export.cloudevents import CALL_NAMES
from ghost_ledger.reader import Ledger

_LIMIT = 10_000  # calls under way; what is beyond is read from the ledger


class Called:
    """Remembers calls from intent to outcome; those of another process are in the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[str, dict[str, object]] = {}

    def begin(self, entry: Mapping[str, Any]) -> None:
        """Remember the call of an intent."""
        if len(self._open) < _LIMIT:
            self._open[entry["id"]] = {name: entry[name] for name in CALL_NAMES}

    def end(self, action_id: str) -> dict[str, object]:
        """Return tool, action, method and host of a call that is over, and forget it."""
        known = self._open.pop(action_id, None)
        return self._entered(action_id) if known is None else known

    def _entered(self, action_id: str) -> dict[str, object]:
        try:
            row = self._ledger.action(action_id)
        except GhostError as error:  # the event is told all the same
            log.events(__name__).warning("event.unnamed", code=error.code)
            row = None
        return {} if row is None else {name: getattr(row, name) for name in CALL_NAMES}
