"""The entry that gives a log another key."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ghost_core import ids
from ghost_core.errors import IntegrityError
from ghost_ledger.batch import Batch
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft, Receipt
from ghost_ledger.handover import sign_handover
from ghost_ledger.keys import Key
from ghost_ledger.note import Vkey

__all__ = ["Change"]


@dataclass(frozen=True, slots=True)
class Change:
    """The call that enters a change of key; from it on, the log is that of the new one."""

    old: Key
    new: Key
    sid: str
    reason: str

    def perform(self, batch: Batch) -> tuple[Receipt, ...]:
        """Append `log.key`; raises IntegrityError `ledger.log_key` if the old key rules no more."""
        origin, size = batch.state.origin, batch.state.frontier.size + 1
        old, new = (Vkey(origin, key.public).format() for key in (self.old, self.new))
        if batch.state.vkey != old:
            raise IntegrityError(
                f"log {origin}: its key is {batch.state.vkey}, not {old}", code="ledger.log_key"
            )
        fields: dict[str, Value] = {
            "vkey": new,
            "reason": self.reason,
            "revoked": old,
            "from_size": size,
            "note": sign_handover(self.old, self.new, origin).decode(),
        }
        receipts = batch.append([Draft(self.sid, "log.key", ids.entry_id(), fields)])
        batch.state = replace(batch.state, vkey=new)
        return receipts
