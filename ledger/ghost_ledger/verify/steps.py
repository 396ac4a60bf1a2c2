"""What each step of the verification checks. Every check returns what it found, or raises.

`IntegrityError` makes its axis invalid, `IncompleteError` incomplete, None absent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import commitment, tree
from ghost_ledger.checkpoint import Checkpoint, decode_proof, open_checkpoint
from ghost_ledger.entry import FIRST_PREV, Entry, session_name
from ghost_ledger.keys import verify
from ghost_ledger.note import Vkey
from ghost_ledger.seal import SMALLEST, Seal, open_seal
from ghost_ledger.verify.evidence import Evidence, Leaf, bad_entry
from ghost_ledger.verify.pins import match_session

__all__ = [
    "check_chain",
    "check_complete",
    "check_contents",
    "check_disclosures",
    "check_head",
    "check_inclusion",
    "check_intents",
    "check_key",
    "check_signatures",
]


def check_contents(leaves: Sequence[Leaf]) -> str:
    """Content: every entry has a known type and version, and its fields are right."""
    for kind in (IntegrityError, IncompleteError):
        for seq, leaf in enumerate(leaves):
            if isinstance(leaf.problem, kind):
                raise kind(f"entry {seq}: {leaf.problem.message}", code=leaf.problem.code)
    return f"{len(leaves)} entries"


def check_chain(leaves: Sequence[Leaf]) -> str:
    """Chain: one session of one log, in order, without gap, each entry naming the one before."""
    first, prev, ts = leaves[0].entry, FIRST_PREV, 0
    for seq, leaf in enumerate(leaves):
        entry = leaf.entry
        if (entry.log, entry.sid) != (first.log, first.sid):
            raise bad_entry(seq, f"is of session {session_name(entry.log, entry.sid)}")
        if entry.seq != seq:
            raise bad_entry(seq, f"has seq {entry.seq}")
        if entry.prev != prev:
            raise bad_entry(seq, f"prev is {entry.prev}, expected {prev}")
        if entry.ts < ts:
            raise bad_entry(seq, f"time {entry.ts} is before {ts}")
        if (entry.type == "session.spawn") != (seq == 0):
            raise bad_entry(
                seq, f"{entry.type} is out of place, session.spawn is the first and only"
            )
        if entry.type == "session.seal" and seq != len(leaves) - 1:
            raise bad_entry(seq + 1, "follows the seal")
        prev, ts = leaf.hash.hex(), entry.ts
    return f"{len(leaves)} entries in order"


def check_signatures(evidence: Evidence, *, fast: bool) -> str:
    """Signatures: every entry and the seal are signed by the session key; fast: only the seal."""
    key, seal = evidence.session_key, evidence.bundle.seal
    if key is None:
        raise IncompleteError("the spawn entry names no key that can be read")
    if seal is not None:
        open_seal(seal, (key,))
    if fast:
        if seal is None:
            raise IncompleteError("fast checks the seal only, and there is none")
        return "of the seal and the head only (fast)"
    for seq, leaf in enumerate(evidence.leaves):
        _check_signature(seq, leaf, key)
    return f"{len(evidence.leaves)} entries" + (" and the seal" if seal else "")


def check_complete(evidence: Evidence) -> str:
    """Complete: closed, then sealed, and the seal counts and hashes exactly these entries."""
    note, leaf, body = evidence.bundle.seal, evidence.seal_leaf, evidence.body
    if note is None and leaf is None:
        raise IncompleteError("open: the session has no seal")
    if note is None or leaf is None:
        raise IntegrityError("seal: either the note or the entry session.seal is missing")
    if leaf.problem is not None or evidence.session_key is None:
        raise IncompleteError(f"entry {len(body)}: the seal cannot be read")
    _check_closed(body)
    seal = open_seal(note, (evidence.session_key,))
    _check_seal(seal, body, leaf)
    expected = {"note": note.decode(), "root": seal.root.hex(), "size": seal.size}
    if any(leaf.entry.fields[name] != value for name, value in expected.items()):
        raise bad_entry(len(body), "session.seal does not repeat the seal note, root and size")
    return f"sealed over {seal.size} entries, root {seal.root.hex()}"


def check_intents(leaves: Sequence[Leaf]) -> str:
    """Intents: each was written before its session expired, and has exactly one later outcome."""
    pending, answered = dict[str, Leaf](), set[str]()
    for seq, leaf in enumerate(leaves):
        if leaf.problem is None and leaf.entry.type == "action.intent":
            _check_expiry(seq, leaf.entry, leaves[0])
            pending[leaf.hash.hex()] = leaf
        elif leaf.problem is None and leaf.entry.type == "action.outcome":
            answered.add(_check_outcome(seq, leaf.entry, pending, answered))
    if any(leaf.problem is not None for leaf in leaves):
        raise IncompleteError("an entry that cannot be read may be an intent or an outcome")
    if pending:
        first = next(iter(pending.values())).entry.seq
        raise IncompleteError(f"entry {first}: the intent has no outcome")
    return f"{len(answered)} answered"


def check_inclusion(evidence: Evidence) -> str:
    """Inclusion: the log signed a head whose tree holds this spawn and this seal."""
    bundle, first = evidence.bundle, evidence.leaves[0]
    if bundle.head is None or bundle.spawn_proof is None:
        raise IncompleteError("the bundle holds no head of the log, or no proof of its spawn entry")
    if not evidence.log_keys:
        raise IncompleteError("no key of the log: neither pinned nor in a readable spawn entry")
    head = open_checkpoint(bundle.head, evidence.log_keys)
    if head.origin != first.entry.log:
        raise IntegrityError(f"head: origin is {head.origin}, expected {first.entry.log}")
    spawned = _check_proof(0, first, bundle.spawn_proof, bundle.head, head)
    if evidence.seal_leaf is None:
        if bundle.seal_proof is not None:
            raise IntegrityError("seal_proof: there is no session.seal for it")
        return f"spawn at {spawned} of {head.size}"
    if bundle.seal_proof is None:
        raise IncompleteError("the bundle holds no proof of its seal entry")
    last = len(evidence.body)
    sealed = _check_proof(last, evidence.seal_leaf, bundle.seal_proof, bundle.head, head)
    if sealed < spawned + last:
        raise bad_entry(last, f"lies at {sealed} in the log, too close after spawn at {spawned}")
    return f"spawn at {spawned} and seal at {sealed} of {head.size}"


def check_key(evidence: Evidence, *, included: str) -> str:
    """Key: the caller pinned the key of this session, or the key of the log that includes it."""
    pins, used = evidence.pins, evidence.session_key
    if not pins.given:
        raise IncompleteError("unpinned: no key was given, so anyone may have signed this")
    if used is not None and match_session(pins, used):
        return "the session's key was given"
    if not pins.log:
        raise IntegrityError("none of the given keys is one that this session or its log uses")
    if included == "invalid":
        raise IntegrityError("the given log key does not vouch for this session")
    if included != "valid" or used is None:
        raise IncompleteError("the given log key vouches only for sessions that it includes")
    return "the log's key was given, and its head includes this session"


def check_head(evidence: Evidence, head: bytes | None) -> str | None:
    """Head: the log still stands by the head that the caller knows."""
    if head is None:
        return None
    if evidence.bundle.head is None or not evidence.log_keys:
        raise IncompleteError("the bundle holds no head that could be compared")
    known = open_checkpoint(head, evidence.log_keys)
    ours = open_checkpoint(evidence.bundle.head, evidence.log_keys)
    if known.origin != ours.origin:
        raise IntegrityError(f"the known head is of log {known.origin}, not {ours.origin}")
    if known.size == ours.size:
        if known.root != ours.root:
            raise IntegrityError(f"fork: the log signed two roots for size {ours.size}")
        return f"equal at size {ours.size}"
    proof = evidence.bundle.consistency
    if proof is None or proof.size != known.size:
        raise IncompleteError(f"no proof between known size {known.size} and {ours.size}")
    tree.verify_consistency(known.size, ours.size, proof.hashes, known.root, ours.root)
    return f"size {ours.size} continues known size {known.size}"


def check_disclosures(evidence: Evidence) -> str | None:
    """Disclosure: each disclosed payload is the one that its entry committed to."""
    items = evidence.bundle.disclosures
    for item in items:
        if not 0 <= item.seq < len(evidence.leaves):
            raise IntegrityError(f"disclosure: there is no entry {item.seq}")
        leaf = evidence.leaves[item.seq]
        if leaf.problem is not None:
            raise IncompleteError(f"entry {item.seq}: cannot be read, so neither its disclosure")
        expected = leaf.entry.fields.get(item.field)
        if not isinstance(expected, str):
            raise bad_entry(item.seq, f"has no commitment {item.field}")
        if not commitment.check(item.field, item.salt, item.data, expected):
            raise bad_entry(item.seq, f"committed to another {item.field} than the one disclosed")
    return f"{len(items)} payloads" if items else None


def _check_closed(body: Sequence[Leaf]) -> None:
    closed = [seq for seq, item in enumerate(body) if item.entry.type == "session.closed"]
    if len(body) < SMALLEST or not closed:
        raise bad_entry(len(body), "seals a session that was not closed before")
    if closed[0] != len(body) - 1:
        raise bad_entry(closed[0] + 1, "follows session.closed")


def _check_seal(seal: Seal, body: Sequence[Leaf], leaf: Leaf) -> None:
    """Compare what the seal says with what was found, place by place."""
    if (seal.log, seal.sid) != (leaf.entry.log, leaf.entry.sid):
        raise bad_entry(len(body), f"the seal is of session {session_name(seal.log, seal.sid)}")
    if seal.size != len(body):
        raise bad_entry(len(body), f"the seal counts {seal.size} entries, found {len(body)}")
    if seal.root != tree.root([item.hash for item in body]):
        raise bad_entry(len(body), "the seal's root is not the root of these entries")


def _check_outcome(
    seq: int, outcome: Entry, pending: dict[str, Leaf], answered: Collection[str]
) -> str:
    """Take the intent that an outcome answers out of the pending ones; return its hash."""
    intent = str(outcome.fields["intent"])
    asked = pending.pop(intent, None)
    if asked is None:
        again = "a second time" if intent in answered else "that is not before it in this session"
        raise bad_entry(seq, f"answers an intent {again}")
    if asked.entry.id != outcome.id:
        raise bad_entry(seq, f"answers entry {asked.entry.seq}, which has id {asked.entry.id}")
    return intent


def _check_signature(seq: int, leaf: Leaf, key: Vkey) -> None:
    if (leaf.line.name, leaf.line.key_id) != (key.name, key.key_id):
        raise bad_entry(seq, f"is signed by {leaf.line.name}+{leaf.line.key_id.hex()}")
    try:
        verify(key.public, leaf.entry.body + b"\n", leaf.line.signature)
    except IntegrityError as error:
        raise bad_entry(seq, error.message) from error


def _check_expiry(seq: int, entry: Entry, spawn: Leaf) -> None:
    """Refuse a late intent; an unreadable spawn has no expiry, and its own axis says so."""
    expires_at = spawn.entry.fields.get("expires_at")
    if spawn.problem is None and isinstance(expires_at, int) and entry.ts > expires_at:
        raise bad_entry(seq, f"intent at {entry.ts}, after the session expired at {expires_at}")


def _check_proof(seq: int, leaf: Leaf, text: str, note: bytes, head: Checkpoint) -> int:
    """Check one tlog-proof against the bundle's head; the leaf hash is ours, never the proof's."""
    try:
        proof = decode_proof(text)
        tree.verify_inclusion(leaf.hash, proof.index, head.size, proof.hashes, head.root)
    except IntegrityError as error:
        raise bad_entry(seq, error.message) from error
    if proof.checkpoint != note:
        raise bad_entry(seq, "its proof leads to another head than the bundle's")
    return proof.index
