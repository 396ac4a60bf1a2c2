"""A ticket: how `ghost act` enters its own proxy with a declared tool and action."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from ghost_addons.refusal import Refusal
from ghost_core import ids
from ghost_hooks.gates import ExtraHook
from ghost_ledger.drafts import Receipt


@dataclass(slots=True)
class Ticket:
    """One call that the owner runs for somebody: what was declared, and what became of it."""

    tool: str
    action: str
    extra_pre: tuple[ExtraHook, ...] = ()
    extra_post: tuple[ExtraHook, ...] = ()
    operation: str = ""
    attempt: int = 1
    password: str = field(default_factory=lambda: "ghticket_" + secrets.token_urlsafe(32))
    action_id: str = field(default_factory=ids.action_id)
    status: str = ""
    residue_hash: str = ""
    ts: int = 0
    error: str = ""
    reason: str = ""
    hint: str = ""

    def settled(self, status: str, error: str, receipt: Receipt) -> None:
        """Note the outcome entry of the call."""
        self.status, self.error = status, error
        self.residue_hash, self.ts = "sha256_" + receipt.leaf_hash.hex(), receipt.ts

    def refused(self, refusal: Refusal, receipt: Receipt) -> None:
        """Note the denial entry of the call."""
        self.settled("denied", refusal.code, receipt)
        self.reason, self.hint = refusal.message, refusal.hint
