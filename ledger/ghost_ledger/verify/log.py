"""A whole log, entry by entry in its order: what each must be, and what its session allows next.

The rules are those of a bundle; what may be missing, `pruning` says. Kept are one state for each session that
is open, sixteen bytes for each that is over, and the frontier of the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ghost_core.errors import GhostError, IncompleteError, IntegrityError
from ghost_ledger import entry as entries
from ghost_ledger import tree
from ghost_ledger.entry import Entry, session_name
from ghost_ledger.note import Line, Vkey
from ghost_ledger.tree import Frontier
from ghost_ledger.verify.evidence import Leaf
from ghost_ledger.verify.pruning import Gaps, check_kept_seal
from ghost_ledger.verify.succession import Succession
from ghost_ledger.verify.tracking import Chain, Intents, Sealing, check_signature

__all__ = ["BadEntryError", "Log", "Row", "columns"]


class BadEntryError(IntegrityError):
    """The first entry that cannot stand: its index, and the axis on which it fails."""

    def __init__(self, axis: str, idx: int, message: str) -> None:
        super().__init__(f"idx {idx}: {message}", code="ledger.evidence")
        self.axis = axis
        self.idx = idx


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as it is stored, its columns as they were found."""

    idx: int
    sid: str
    seq: int
    prev: bytes
    type: str
    id: str
    ts: int
    body: bytes
    sig: bytes
    leaf_hash: bytes

    def holds_bytes(self) -> bool:
        """Tell whether what must be bytes is: an edited SQLite file holds anything anywhere."""
        return all(
            isinstance(value, bytes) for value in (self.prev, self.body, self.sig, self.leaf_hash)
        )


@dataclass(slots=True)
class _Session:
    key: Vkey
    chain: Chain
    intents: Intents
    sealing: Sealing = field(default_factory=Sealing)


@dataclass(slots=True)
class Log:
    """What was read of a log so far; `vkey` is that of its head, `fast` leaves out signatures of entries."""

    origin: str
    vkey: str
    fast: bool = False
    gaps: Gaps = field(default_factory=Gaps)
    frontier: Frontier = field(default_factory=Frontier)
    ts: int = 0
    answered: int = 0
    unanswered: int = 0
    unreadable: str = ""
    succession: Succession = field(init=False)
    _open: dict[str, _Session] = field(default_factory=dict)
    _over: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.succession = Succession(self.origin)

    @property
    def sealed(self) -> int:
        """How many sessions are over and sealed."""
        return len(self._over)

    @property
    def open(self) -> int:
        """How many sessions have no seal: they live, or were abandoned."""
        return len(self._open)

    @property
    def pending(self) -> int:
        """How many intents have no outcome."""
        unsealed = sum(len(each.intents.pending) for each in self._open.values())
        return self.unanswered + unsealed

    def feed(self, row: Row) -> Leaf:
        """Take the next entry.

        Raises:
            BadEntryError: it cannot stand where it does.
        """
        axis = "entries"
        try:
            read = self._read(row)
            axis = "chain"
            session = None if self._is_kept_seal(read) else self._session(read)
            key = self._key_of(read) if session is None else session.key
            leaf = _leaf(row, read, key)
            axis = "entries"
            _compare(row, leaf)
            axis = "chain"
            self._chain(session, leaf)
            axis = "signatures"
            if not self.fast:
                check_signature(read.seq, leaf, key)
            axis = "chain"
            if leaf.problem is None:
                self.succession.feed(leaf.entry, self.frontier.size)
            axis = "sessions"
            self._follow(session, leaf, key)
        except IntegrityError as error:
            raise BadEntryError(axis, self.frontier.size, error.message) from error
        self._grow(leaf.hash)
        return leaf

    def skip(self, leaf_hash: bytes) -> None:
        """Take the leaf hash of an entry that was pruned; where it may be missing, `gaps` knows."""
        self.gaps.missing += 1
        self._grow(leaf_hash)

    def _grow(self, leaf_hash: bytes) -> None:
        self.frontier = self.frontier.append(leaf_hash)
        self.gaps.passed(self.frontier.size, self.frontier.root)

    def _is_kept_seal(self, read: Entry) -> bool:
        """Tell whether it is the seal of a session whose other entries may be pruned."""
        seen = read.sid in self._open or bytes.fromhex(read.sid[3:]) in self._over
        below = self.frontier.size < self.gaps.minimum
        return read.type == "session.seal" and read.seq > 0 and below and not seen

    def _key_of(self, read: Entry) -> Vkey:
        """Return the key that the derived row remembers, since the first entry is gone."""
        return _named(Vkey.parse(self.gaps.vkey_of(read.sid)), read)

    def _read(self, row: Row) -> Entry:
        if row.idx != self.frontier.size:
            raise IntegrityError(f"is missing, the next one has idx {row.idx}")
        if not row.holds_bytes():
            raise IntegrityError("a column does not hold bytes")
        read = entries.parse_envelope(row.body)
        if read.log != self.origin:
            raise IntegrityError(f"is of log {read.log}")
        return read

    def _session(self, read: Entry) -> _Session:
        if bytes.fromhex(read.sid[3:]) in self._over:
            raise IntegrityError(f"session {read.sid}: an entry follows the seal")
        known = self._open.get(read.sid)
        if known is not None:
            return known
        if read.type != "session.spawn":
            raise IntegrityError(f"session {read.sid}: {read.type} without session.spawn before it")
        return self._spawned(read)

    def _spawned(self, read: Entry) -> _Session:
        key = _named(Vkey.parse(str(read.fields.get("vkey"))), read)
        self.succession.spawned(read)
        spawn = Leaf(read, Line(key.name, key.key_id, b""), b"", _problem(read))
        return _Session(key, Chain(read.log, read.sid), Intents(spawn))

    def _chain(self, session: _Session | None, leaf: Leaf) -> None:
        if leaf.entry.ts < self.ts:
            raise IntegrityError(f"time {leaf.entry.ts} is before {self.ts}")
        if session is not None:
            session.chain.feed(leaf)
            self._open[leaf.entry.sid] = session
        self.ts = leaf.entry.ts

    def _follow(self, session: _Session | None, leaf: Leaf, key: Vkey) -> None:
        if isinstance(leaf.problem, IntegrityError):
            raise leaf.problem
        if isinstance(leaf.problem, IncompleteError) and not self.unreadable:
            self.unreadable = f"idx {self.frontier.size}: {leaf.problem.message}"
        if session is None:
            self.gaps.seal(self.frontier.size, check_kept_seal(leaf, key))
            self._over.add(bytes.fromhex(leaf.entry.sid[3:]))
        elif leaf.entry.type != "session.seal":
            session.intents.feed(leaf)
            session.sealing.feed(leaf)
            if leaf.entry.type == "log.pruned" and leaf.problem is None:
                self.gaps.take(self.frontier.size, leaf.entry, session.intents.spawn)
        elif leaf.problem is None:
            note = str(leaf.entry.fields["note"]).encode()
            session.sealing.finish(note, leaf, key)
            self._end(session)

    def _end(self, session: _Session) -> None:
        self.answered += len(session.intents.answered)
        self.unanswered += len(session.intents.pending)
        self._over.add(bytes.fromhex(session.chain.sid[3:]))
        del self._open[session.chain.sid]


def _named(key: Vkey, read: Entry) -> Vkey:
    name = session_name(read.log, read.sid)
    if key.name != name:
        raise IntegrityError(f"vkey bears the name {key.name}, expected {name}")
    return key


def _leaf(row: Row, read: Entry, key: Vkey) -> Leaf:
    note = entries.leaf(row.body, row.sig, key.name, key.key_id)
    line = Line(key.name, key.key_id, row.sig)
    return Leaf(read, line, tree.leaf_hash(note), _problem(read))


def _problem(read: Entry) -> GhostError | None:
    try:
        entries.check_content(read)
    except (IntegrityError, IncompleteError) as error:
        return error
    return None


def columns(row: Row, read: Entry, leaf_hash: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield the columns that do not repeat what the signed body says: name, expected, found."""
    pairs = {
        "sid": (read.sid, row.sid),
        "seq": (read.seq, row.seq),
        "prev": (read.prev, row.prev.hex()),
        "type": (read.type, row.type),
        "id": (read.id, row.id),
        "ts": (read.ts, row.ts),
        "leaf_hash": (leaf_hash.hex(), row.leaf_hash.hex()),
    }
    for column, (expected, found) in pairs.items():
        if expected != found:
            yield column, str(expected), str(found)


def _compare(row: Row, leaf: Leaf) -> None:
    for column, expected, found in columns(row, leaf.entry, leaf.hash):
        raise IntegrityError(f"column {column}: expected {expected}, found {found}")
