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
from ghost_ledger.note import Vkey, signature_line, split
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
                return Answer(_OK, self._cosigned(asked))
            if refused.evidence:
                self.memory.keep_evidence(refused.evidence, asked.note, body)
        return refused

    def latest(self, origin_hash: str) -> bytes | None:
        """Return the last head that was cosigned, for who watches a log; raises like `add`."""
        return self.memory.latest(origin_hash)

    def _cosigned(self, asked: Request) -> str:
        """Return the line of the cosignature, after the head was kept with it and with the log's own."""
        seconds = self.clock.now_us() // _MICROSECONDS
        line = cosign(self.key, self.vkey.name, asked.text, seconds)
        known = {(key.name, key.key_id) for key in self.logs[asked.head.origin]}
        theirs = (each for each in split(asked.note)[1] if (each.name, each.key_id) in known)
        lines = [signature_line(each.name, each.key_id, each.signature) for each in theirs]
        self.memory.keep(asked.text + b"\n" + "".join([*lines, line]).encode())
        return line
