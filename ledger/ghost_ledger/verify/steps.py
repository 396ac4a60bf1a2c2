"""What each step of the verification checks. Every check returns what it found, or raises.

`IntegrityError` makes its axis invalid, `IncompleteError` incomplete, None absent.
"""

from __future__ import annotations

from collections.abc import Sequence

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import commitment, tree
from ghost_ledger.checkpoint import Checkpoint, decode_proof, open_checkpoint, parse_checkpoint
from ghost_ledger.handover import predecessors
from ghost_ledger.note import split
from ghost_ledger.seal import open_seal
from ghost_ledger.verify.evidence import Evidence, Leaf, bad_entry
from ghost_ledger.verify.pins import match_session
from ghost_ledger.verify.tracking import Chain, Intents, Sealing, check_signature

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
    first = leaves[0].entry
    chain = Chain(first.log, first.sid)
    for leaf in leaves:
        chain.feed(leaf)
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
        check_signature(seq, leaf, key)
    return f"{len(evidence.leaves)} entries" + (" and the seal" if seal else "")


def check_complete(evidence: Evidence) -> str:
    """Complete: closed, then sealed, and the seal counts and hashes exactly these entries."""
    sealing = Sealing()
    for leaf in evidence.body:
        sealing.feed(leaf)
    return sealing.finish(evidence.bundle.seal, evidence.seal_leaf, evidence.session_key)


def check_intents(leaves: Sequence[Leaf]) -> str:
    """Intents: each was written before its session expired, and has exactly one later outcome."""
    intents = Intents(leaves[0])
    for leaf in leaves:
        intents.feed(leaf)
    if any(leaf.problem is not None for leaf in leaves):
        raise IncompleteError("an entry that cannot be read may be an intent or an outcome")
    if intents.pending:
        first = next(iter(intents.pending.values())).seq
        raise IncompleteError(f"entry {first}: the intent has no outcome")
    return f"{len(intents.answered)} answered"


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
    remark = _check_revoked(evidence)
    if used is not None and match_session(pins, used):
        return f"the session's key was given{remark}"
    if not pins.log:
        raise IntegrityError("none of the given keys is one that this session or its log uses")
    if included == "invalid":
        raise IntegrityError("the given log key does not vouch for this session")
    if included != "valid" or used is None:
        raise IncompleteError("the given log key vouches only for sessions that it includes")
    return f"the log's key was given, and its head includes this session{remark}"


def _check_revoked(evidence: Evidence) -> str:
    """Refuse a head that counts by no key any more; else return a remark on it."""
    note = evidence.bundle.head
    if note is None or not evidence.revoked.sizes:
        return ""
    text, lines = split(note)
    signed = {(line.name, line.key_id) for line in lines}
    signers = [key for key in evidence.log_keys if (key.name, key.key_id) in signed]
    if not signers:
        evidence.revoked.check_heirs(evidence.log_keys)
    return evidence.revoked.check(signers, parse_checkpoint(text).size)


def check_head(evidence: Evidence, head: bytes | None) -> str | None:
    """Head: the log still stands by the head that the caller knows."""
    if head is None:
        return None
    if evidence.bundle.head is None or not evidence.log_keys:
        raise IncompleteError("the bundle holds no head that could be compared")
    # The caller kept this one, perhaps from before a key that he was given since.
    known = open_checkpoint(head, predecessors(evidence.bundle.handovers, evidence.log_keys))
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
