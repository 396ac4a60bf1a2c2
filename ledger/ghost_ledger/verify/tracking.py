"""What one session must obey, fed entry by entry: a bundle holds a session, a log mixes many.

Every `feed` raises IntegrityError where the entry cannot stand where it does, and names it by its `seq`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import statement
from ghost_ledger.entry import FIRST_PREV, Entry, session_name
from ghost_ledger.keys import verify
from ghost_ledger.note import Vkey
from ghost_ledger.seal import SMALLEST, Seal, open_seal
from ghost_ledger.statement import Sealed
from ghost_ledger.tree import Frontier
from ghost_ledger.verify.evidence import Leaf, bad_entry

__all__ = ["Chain", "Intents", "Sealing", "check_signature"]


@dataclass(slots=True)
class Chain:
    """One session of one log, in order, without gap, each entry naming the one before."""

    log: str
    sid: str
    seq: int = 0
    prev: str = FIRST_PREV
    ts: int = 0
    sealed: bool = False

    def feed(self, leaf: Leaf) -> None:
        """Take the next entry."""
        entry, seq = leaf.entry, self.seq
        if self.sealed:
            raise bad_entry(seq, "follows the seal")
        if (entry.log, entry.sid) != (self.log, self.sid):
            raise bad_entry(seq, f"is of session {session_name(entry.log, entry.sid)}")
        if entry.seq != seq:
            raise bad_entry(seq, f"has seq {entry.seq}")
        if entry.prev != self.prev:
            raise bad_entry(seq, f"prev is {entry.prev}, expected {self.prev}")
        if entry.ts < self.ts:
            raise bad_entry(seq, f"time {entry.ts} is before {self.ts}")
        if (entry.type == "session.spawn") != (seq == 0):
            raise bad_entry(
                seq, f"{entry.type} is out of place, session.spawn is the first and only"
            )
        self.seq, self.prev, self.ts = seq + 1, leaf.hash.hex(), entry.ts
        self.sealed = entry.type == "session.seal"


@dataclass(slots=True)
class Intents:
    """Each intent was written before its session expired, and has exactly one later outcome."""

    spawn: Leaf
    answered: set[str] = field(default_factory=set)
    pending: dict[str, Entry] = field(default_factory=dict)

    def feed(self, leaf: Leaf) -> None:
        """Take the next entry; one that cannot be read says nothing here."""
        if leaf.problem is None and leaf.entry.type == "action.intent":
            self._check_expiry(leaf.entry)
            self.pending[leaf.hash.hex()] = leaf.entry
        elif leaf.problem is None and leaf.entry.type == "action.outcome":
            self._answer(leaf.entry)

    def _answer(self, outcome: Entry) -> None:
        """Take the intent that an outcome answers out of the pending ones."""
        seq, intent = outcome.seq, str(outcome.fields["intent"])
        asked = self.pending.pop(intent, None)
        if asked is None:
            twice = intent in self.answered
            again = "a second time" if twice else "that is not before it in this session"
            raise bad_entry(seq, f"answers an intent {again}")
        if asked.id != outcome.id:
            raise bad_entry(seq, f"answers entry {asked.seq}, which has id {asked.id}")
        self.answered.add(intent)

    def _check_expiry(self, entry: Entry) -> None:
        """Refuse a late intent; an unreadable spawn has no expiry, and its own axis says so."""
        expires_at = self.spawn.entry.fields.get("expires_at")
        known = self.spawn.problem is None and isinstance(expires_at, int)
        if known and isinstance(expires_at, int) and entry.ts > expires_at:
            reason = f"intent at {entry.ts}, after the session expired at {expires_at}"
            raise bad_entry(entry.seq, reason)


@dataclass(slots=True)
class Sealing:
    """Closed, then sealed, and the seal counts and hashes exactly the entries before it."""

    closed: int | None = None
    frontier: Frontier = field(default_factory=Frontier)
    _spawn: bytes = b""
    _last: Entry | None = None

    def feed(self, leaf: Leaf) -> None:
        """Take the next entry under the seal."""
        if not self.frontier.size:
            self._spawn = leaf.hash
        if leaf.entry.type == "session.closed" and self.closed is None:
            self.closed, self._last = self.frontier.size, leaf.entry
        self.frontier = self.frontier.append(leaf.hash)

    def finish(self, note: bytes | None, leaf: Leaf | None, key: Vkey | None) -> str:
        """Judge the seal: its note, and the entry that carries it."""
        if note is None and leaf is None:
            raise IncompleteError("open: the session has no seal")
        if note is None or leaf is None:
            raise IntegrityError("seal: either the note or the entry session.seal is missing")
        size = self.frontier.size
        if leaf.problem is not None or key is None:
            raise IncompleteError(f"entry {size}: the seal cannot be read")
        self._check_closed()
        return self._check_seal(note, leaf, key)

    def _check_closed(self) -> None:
        size = self.frontier.size
        if size < SMALLEST or self.closed is None:
            raise bad_entry(size, "seals a session that was not closed before")
        if self.closed != size - 1:
            raise bad_entry(self.closed + 1, "follows session.closed")

    def _check_seal(self, note: bytes, leaf: Leaf, key: Vkey) -> str:
        """Compare what the seal says with what was found, place by place."""
        size, seal = self.frontier.size, open_seal(note, (key,))
        if (seal.log, seal.sid) != (leaf.entry.log, leaf.entry.sid):
            raise bad_entry(size, f"the seal is of session {session_name(seal.log, seal.sid)}")
        if seal.size != size:
            raise bad_entry(size, f"the seal counts {seal.size} entries, found {size}")
        if seal.root != self.frontier.root():
            raise bad_entry(size, "the seal's root is not the root of these entries")
        expected = {"note": note.decode(), "root": seal.root.hex(), "size": seal.size}
        if any(leaf.entry.fields[name] != value for name, value in expected.items()):
            raise bad_entry(size, "session.seal does not repeat the seal note, root and size")
        self._check_statement(leaf, seal, key)
        return f"sealed over {seal.size} entries, root {seal.root.hex()}"

    def _check_statement(self, leaf: Leaf, seal: Seal, key: Vkey) -> None:
        """Demand that a statement that was signed is the one that these entries give."""
        signature = leaf.entry.fields.get("dsse")
        if not isinstance(signature, str) or self._last is None:
            return
        try:
            statement.check(key, Sealed(self._last, self._spawn, seal.size, seal.root), signature)
        except IntegrityError as error:
            raise bad_entry(seal.size, f"dsse: {error.message}") from error


def check_signature(seq: int, leaf: Leaf, key: Vkey) -> None:
    """Demand that the session's key signed the entry."""
    if (leaf.line.name, leaf.line.key_id) != (key.name, key.key_id):
        raise bad_entry(seq, f"is signed by {leaf.line.name}+{leaf.line.key_id.hex()}")
    try:
        verify(key.public, leaf.entry.body + b"\n", leaf.line.signature)
    except IntegrityError as error:
        raise bad_entry(seq, error.message) from error
