"""A witness: judges requests one at a time, remembers, and only then signs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from ghost_core.clock import Clock
from ghost_core.paths import Home
from ghost_ledger import identity
from ghost_ledger.cosignature import WitnessKey, cosign
from ghost_ledger.keys import Key
from ghost_ledger.note import Vkey
from ghost_ledger.witness.deciding import Answer, Logs, admit, by_origin, judge
from ghost_ledger.witness.memory import Memory
from ghost_ledger.witness.request import Request

__all__ = ["Witness"]

_OK = 200
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Witness:
    """The key, the logs that it was told of, and its memory; may be used by threads and processes at once."""

    vkey: WitnessKey
    key: Key
    logs: Logs
    memory: Memory
    clock: Clock

    @classmethod
    def open(cls, home: Home, logs: Iterable[Vkey], clock: Clock, *, name: str = "") -> Self:
        """Open the witness of a home; its key and its memory are made at the first start.

        Raises:
            IntegrityError: codes `witness.memory`, `keys.file`, `ledger.key` (the name).
            UnavailableError: codes `witness.unwritable`, `keys.unwritable`.
        """
        memory = Memory.open(home)
        key = identity.witness_key(home)
        vkey = WitnessKey(name or f"ghost.local/witness/{key.public.hex()[:16]}", key.public)
        return cls(vkey, key, by_origin(logs), memory, clock)

    def add(self, body: bytes) -> Answer:
        """Answer an add-checkpoint request; what is cosigned is on disk before it is returned.

        Raises:
            IntegrityError: code `witness.memory`.
            UnavailableError: code `witness.unwritable`.
        """
        asked = admit(body, self.logs)
        if isinstance(asked, Answer):
            return asked
        with self.memory.held():
            refused = judge(asked, self.memory.last(asked.head.origin))
            if refused is None:
                self.memory.keep(asked.note)
            elif refused.evidence:
                self.memory.keep_evidence(asked.note, body)
        return refused or self._cosigned(asked)

    def _cosigned(self, asked: Request) -> Answer:
        seconds = self.clock.now_us() // _MICROSECONDS
        return Answer(_OK, cosign(self.key, self.vkey.name, asked.text, seconds))
