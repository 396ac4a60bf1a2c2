"""The account of one session: what its calls have used of each action, and who may use more.

Judging and taking are one step without a wait in it, so that two calls at once never take the same unit.
"""

from __future__ import annotations

from collections.abc import Mapping

from ghost_core.settings_tables import LimitSettings
from ghost_hooks.limits import Spent, judge
from ghost_hooks.request import Verdict

type Name = tuple[str, str]
"""A tool and one of its actions, as entries name them."""


class Account:
    """Counts the calls of a session; `used` is what its entries tell of the calls before."""

    def __init__(self, used: Mapping[Name, Spent] | None = None) -> None:
        self._used: dict[Name, Spent] = dict(used or {})
        self._taken: dict[str, tuple[Name, Spent]] = {}

    def used(self, name: Name) -> Spent:
        """Return what calls of an action have used, those included that are being judged."""
        return self._used.get(name, Spent())

    def take(self, action_id: str, name: Name, limits: LimitSettings, now: Spent) -> Verdict | None:
        """Take what a call would use, or return the refusal of one that would go over a limit."""
        refusal = judge(limits, self.used(name), now, rule=":".join(name))
        if refusal is None:
            self.add(name, now)
            self._taken[action_id] = (name, now)
        return refusal

    def taken(self, action_id: str) -> Spent | None:
        """Return what a call took that is not entered yet; None if nothing limited it."""
        found = self._taken.get(action_id)
        return found[1] if found else None

    def add(self, name: Name, spent: Spent) -> None:
        """Count a call that nothing limited."""
        self._used[name] = self.used(name) + spent

    def keep(self, action_id: str) -> None:
        """Let what a call took stay: its intent is entered, whatever becomes of it."""
        self._taken.pop(action_id, None)

    def give_back(self, action_id: str) -> None:
        """Return what a call took that was refused before its intent; nothing if it took nothing."""
        found = self._taken.pop(action_id, None)
        if found is not None:
            name, spent = found
            self._used[name] = self.used(name) - spent
